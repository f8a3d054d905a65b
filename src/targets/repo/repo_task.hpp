// SPDX-License-Identifier: Apache-2.0
// A refactor.toml as a search's task, and back.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "model/task.hpp"
#include "refactor/task.hpp"

namespace accelopt::targets::repo {

/// Reads the folder of a refactor.toml, and the base of its repository: the baseline's sources are the files in scope.
/// @error as refactor::load_task and vcs::Repository.
base::Result<model::Task> load_repo_task(const std::filesystem::path& place);

/// The task that a run began with, read from its place again, with the base as it was then.
/// @error invalid_argument: refactor.toml or what lies beside it has changed since; as refactor::load_task.
base::Result<refactor::Task> refactor_task_of(const model::Task& task);

/// Of the workloads of the model's task: one size of one family.
std::string workload_name(std::string_view family, std::int64_t size);

}  // namespace accelopt::targets::repo
