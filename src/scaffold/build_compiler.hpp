// SPDX-License-Identifier: Apache-2.0
// Which compiler the user's own build calls.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "scaffold/user_build.hpp"

namespace accelopt::scaffold {

/// The program of a compile command that was given in `folder`, behind launchers (`ccache`, `env CCACHE_DIR=x`). Empty:
/// the command has arguments alone.
std::string compiler_in(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

/// The C++ compiler beside the build's own, as targets::cpu::find_compiler takes it: "/usr/bin/clang++" of
/// "/usr/bin/clang". Empty: the build does not say, as with a `c++` that is no link. `search_path`: folders with colons
/// between them.
/// @error unsupported: it compiles for another kind of machine, or is neither GCC nor Clang.
base::Result<std::string> cpp_compiler_of(const UserBuild& build, const std::string& search_path);

}  // namespace accelopt::scaffold
