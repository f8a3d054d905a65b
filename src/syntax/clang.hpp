// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::syntax {

class Preambles;

/// libclang, opened at run time: the program starts and works without it, minus the features that read source code.
/// A loaded handle may be shared by any number of threads; the library stays open until the program ends.
class Clang {
 public:
  /// Opens the first of the libraries that can be opened and is new enough (LLVM 17).
  /// @error unsupported: none can; the message says what was tried and which package to install.
  static base::Result<Clang> load(const std::vector<std::string>& libraries = default_libraries());

  /// One that has none of the library's functions: for those who read no source, and pass one on.
  static Clang none();

  /// The file names that `load` tries, the one this program is tested with first.
  static std::vector<std::string> default_libraries();

  /// The name under which the library was opened.
  [[nodiscard]] const std::string& library() const { return library_; }

  /// Arguments that make the library find the headers of the system's compilers: its own where they are installed, else
  /// gcc's.
  [[nodiscard]] const std::vector<std::string>& system_arguments() const { return system_arguments_; }

  /// The address of one of the library's functions. Null when it has none of that name.
  [[nodiscard]] void* symbol(const char* name) const;

  /// Headers that were read already; all copies of a handle share them.
  [[nodiscard]] Preambles& preambles() const { return *preambles_; }

 private:
  Clang(void* handle, std::string library, std::vector<std::string> system_arguments);

  void* handle_;  ///< never closed: libclang keeps state for the process; null: none()
  std::string library_;
  std::vector<std::string> system_arguments_;
  std::shared_ptr<Preambles> preambles_;
};

}  // namespace accelopt::syntax
