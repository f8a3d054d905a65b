// SPDX-License-Identifier: Apache-2.0
// How the user's own build compiles a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::scaffold {

/// Whether a build makes `#pragma omp` start threads.
enum class OpenMp { unknown, off, on };

/// Where a build lets a block declare variables without a warning.
enum class Declarations { anywhere, before_statements };

struct UserBuild {
  std::string source;               ///< where the flags come from: "[entry] flags", a compile_commands.json
  std::vector<std::string> flags;   ///< that decide how a kernel is compiled, each on the allow-list, -O and -march too
  std::vector<std::string> search;  ///< -I, -iquote, -isystem (absolute), -D, -U and -std, for reading the file
  Declarations declarations = Declarations::anywhere;
  std::vector<std::filesystem::path> folders;     ///< of `search`
  std::vector<std::filesystem::path> included{};  ///< by -include and -imacros before the file, in `search`, too
  std::vector<std::string> not_read{};            ///< options that may change what the file means
  std::vector<std::string> left_out;              ///< flags for code generation that are not on the allow-list
  OpenMp openmp = OpenMp::unknown;                ///< by -fopenmp, which is in `left_out`, too
  std::string compiler{};  ///< the program, by its path or by name, without launchers; empty: not known
  std::string machine{};   ///< that Clang is to compile for, by --target; empty: this one
};

/// Where a file's headers are looked for, and what else its build has it mean.
struct HeaderFolders {
  std::filesystem::path own;                      ///< the file's: for "quoted" names
  std::vector<std::filesystem::path> searched;    ///< its build's, those of the file's repository: for all names
  std::vector<std::string> macros{};              ///< its build's -D and -U, in order
  std::vector<std::string> standard{};            ///< its build's -std=, if it names one
  std::vector<std::filesystem::path> included{};  ///< what its build includes before it, of the file's repository
  std::vector<std::string> not_read{};            ///< options of its build that may change what the file means
  Declarations declarations = Declarations::anywhere;
};

/// The flags of the file's build: those `stated` by [entry], else those in `commands`, else in the first
/// compile_commands.json in the file's folder, one above it up to its repository's root, or a folder "build" in one of
/// these. None: nothing says so. Levels and processors that a build leaves open are named as what the compiler takes:
/// -O0, -march=x86-64.
/// @error not_found: `commands` is not there or does not name the file; parse: it is malformed.
base::Result<std::optional<UserBuild>> find_user_build(const std::optional<std::vector<std::string>>& stated,
                                                       const std::filesystem::path& file,
                                                       const std::filesystem::path& commands);

/// Of a file that no build names, or whose build cannot be read: its own folder alone.
HeaderFolders header_folders_of(const std::filesystem::path& file);

/// The text with lines for those of the build's macros that it names, which then holds without the build's -D and -U.
std::string with_macros(const std::string& source, const HeaderFolders& folders);

/// The compiler's arguments by which a file is read as its build reads it, with all errors; without `included`.
std::vector<std::string> reading_arguments(const HeaderFolders& folders);

/// An #include line for each file that the build includes before it.
std::string included_lines(const HeaderFolders& folders);

/// The text with lines before all of its code.
std::string with_first_lines(const std::string& source, const std::string& lines);

/// "#define A 1" of "-DA", "#undef A" of "-UA".
std::string macro_line(const std::string& option);

/// What a compile command says of a build, with its program or without; `folder` is where it was called.
UserBuild user_build_of(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                        const std::string& source);

}  // namespace accelopt::scaffold
