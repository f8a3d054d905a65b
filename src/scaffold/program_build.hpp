// SPDX-License-Identifier: Apache-2.0
// The user's own build command, in the sandbox, on a copy of their repository.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "scaffold/user_build.hpp"
#include "scaffold/winner_patch.hpp"

namespace accelopt::scaffold {

struct ProgramBuild {
  std::string problem;             ///< the first error; empty: it built
  std::optional<UserBuild> flags;  ///< those with which the command compiled the file
};

/// Runs the command with /bin/sh in the root of a fresh copy of the repository that holds `file`, with the patch's
/// files in it where there is a patch. It can write the copy and nothing else, read the copy and the system's tools,
/// and reach no network. Not copied: .git, databases, and folders in which CMake has built.
/// @error unsupported: this machine cannot confine it (Landlock and system call filters); exhausted: the repository is
/// too large; cancelled; io.
base::Result<ProgramBuild> build_program(const std::string& command, const std::filesystem::path& file,
                                         const WinnerPatch* patch, const std::stop_token& stop);

}  // namespace accelopt::scaffold
