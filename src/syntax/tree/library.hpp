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

  /// Where grammars are looked for: lib/accelopt/grammars beside the program's folder, and, of a program that stands in
  /// a build tree, the build folder's.
  static std::vector<std::filesystem::path> default_folders();
  /// The same of a program in this folder.
  static std::vector<std::filesystem::path> default_folders(const std::filesystem::path& program);

  /// The grammar of a language, such as "python": from a shared library `python.so`, never null.
  /// @error unsupported: there is none, which the message says how to get; it cannot be opened, it is of another
  /// version, or others than root and this user may write it.
  [[nodiscard]] base::Result<const void*> grammar(std::string_view language,
                                                  const std::vector<std::filesystem::path>& folders) const;

  /// The address of one of the library's functions. Null when it has none of that name.
  [[nodiscard]] void* symbol(const char* name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace accelopt::syntax::tree
