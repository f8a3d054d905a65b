// SPDX-License-Identifier: Apache-2.0
// libtree-sitter and the grammars of languages, opened at run time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::syntax::tree {

/// The program starts and works without either, minus what reads source code by them. Both stay open until it ends.
class Library {
 public:
  /// @error unsupported: libtree-sitter cannot be opened; the message names the package.
  static base::Result<Library> load();

  /// Where grammars are looked for: lib/accelopt/grammars beside the program's folder, and the build folder's.
  static std::vector<std::filesystem::path> default_folders();

  /// The grammar of a language, such as "python": from a shared library `python.so`. Null: the library has no grammar
  /// that this libtree-sitter reads.
  /// @error unsupported: there is none; the message says how to get it.
  [[nodiscard]] base::Result<const void*> grammar(std::string_view language,
                                                  const std::vector<std::filesystem::path>& folders) const;

  /// The address of one of the library's functions. Null when it has none of that name.
  [[nodiscard]] void* symbol(const char* name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace accelopt::syntax::tree
