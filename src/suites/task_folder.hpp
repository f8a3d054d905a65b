// SPDX-License-Identifier: Apache-2.0
// Tasks as folders: task.toml, reference.*, baseline.*, hints.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

namespace accelopt::suites {

/// Marks what `accelopt init` could not know in a source: a task that has it is refused by line.
inline constexpr std::string_view kToBeFilledIn = "accelopt: to be filled in";

/// Which reference is read where a folder holds one for the device (.cu) and one for the processor. A folder may hold
/// both if its target has an interpreter, which runs without a device.
enum class ReferenceRuns { on_device, on_processor };

/// Reads the task in the folder (or the folder of the given task.toml).
/// @error not_found: no folder, or a file of it is missing; parse: something in it is wrong; permission_denied, io. The
/// message lists every problem of the task, one a line, as "file:line: key: reason".
base::Result<model::Task> load_task(const std::filesystem::path& folder_or_toml,
                                    ReferenceRuns reference = ReferenceRuns::on_device);

/// `flags` of the folder's [entry]: with which the user's build compiles the file. None: not stated, or the folder
/// cannot be read.
std::optional<std::vector<std::string>> entry_flags(const std::filesystem::path& folder_or_toml);

/// Everything that keeps the task from being loaded; empty when load_task succeeds. For `lint`.
std::vector<base::Problem> task_problems(const std::filesystem::path& folder_or_toml);

/// Writes the task as a folder that loads back equal; makes the folder, replaces its files. The baseline's file is
/// named "baseline" and the reference's "reference", each with its own extension.
/// @error unsupported: the baseline has several source files; permission_denied, exhausted, io.
base::Result<void> write_task(const model::Task& task, const std::filesystem::path& folder);

/// The sub-folders that hold a task.toml, sorted by name. @error not_found, permission_denied, io: the folder cannot be
/// listed; not_found: no sub-folder holds a task.
base::Result<std::vector<std::filesystem::path>> find_suite_tasks(const std::filesystem::path& folder);

}  // namespace accelopt::suites
