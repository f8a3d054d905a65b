// SPDX-License-Identifier: Apache-2.0
// `winner.patch`: a winning kernel put in the place of the user's own function.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"
#include "syntax/clang.hpp"

namespace accelopt::cli {

/// The user's file with the function of the task's [entry] replaced: its signature stays, its body calls the winner,
/// which stands before it with its helpers (C++: in a namespace of its own) and includes that the file lacks. Axes that
/// are constant in the task are numbers there; where the function takes them as arguments, its old body serves all
/// other values.
/// @error unsupported: the file cannot take the winner (the message says what clashes); invalid_argument: the signature
/// does not fit [entry]; not_found: the file does not define the function.
base::Result<std::string> replace_entry(const syntax::Clang& clang, const model::Task& task,
                                        const model::Solution& winner, const std::string& user_source);

/// The unified diff of that change, with paths from the root of the user's git repository (from the file's own folder
/// where there is none), as `git apply` and `patch -p1` take it.
/// @error invalid_argument: the task has no [entry]; not_found: its file is gone; unsupported: no libclang, and as
/// replace_entry.
base::Result<std::string> make_winner_patch(const model::Task& task, const model::Solution& winner,
                                            const std::filesystem::path& task_folder);

}  // namespace accelopt::cli
