// SPDX-License-Identifier: Apache-2.0
// Whether a patch of the user's file is possible, found out before anything is paid for.
#pragma once

#include <optional>
#include <string>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "model/task.hpp"
#include "scaffold/patch_check.hpp"

namespace accelopt::app {

/// The compiler with which a user's build is measured and checked: `stated` where that names one, else the build's own;
/// empty: the first that there is. @error as cpp_compiler_of.
base::Result<std::string> compiler_for(const Shell& shell, const std::string& stated,
                                       const std::optional<scaffold::UserBuild>& build);

/// Has that compiler look at the patched files. Without a compiler they are unchecked. @error cancelled, io.
base::Result<scaffold::PatchCheck> check_with_compiler(const Shell& shell, const std::string& compiler,
                                                       const scaffold::WinnerPatch& patch,
                                                       const std::optional<scaffold::UserBuild>& build);

/// Puts the task's baseline into a copy of the user's file as if it were the winner, and has it compiled. What cannot
/// be patched is `broken`. Requires an [entry]. @error cancelled, io.
base::Result<scaffold::PatchCheck> try_patch(const Shell& shell, const std::string& compiler, const model::Task& task,
                                             const std::filesystem::path& folder);

}  // namespace accelopt::app
