// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "model/task.hpp"

namespace accelopt::suites {

/// What the text of a task.toml says, and everything that is wrong with it.
struct TaskText {
  model::Task task;               ///< complete where there are no problems; without reference, baseline and hints
  std::string derived_reference;  ///< SHA-256 of the reference that `init` derived from the baseline; empty: none was
  /// Of [entry]: with which the user's build compiles the file, where stated. No part of the task: it may change when
  /// runs have ended.
  std::optional<std::vector<std::string>> entry_flags{};
  std::vector<base::Problem> problems;  ///< in the order of the text
};

/// Reads a task.toml. Pure: touches no file.
TaskText read_task_toml(std::string_view text);

}  // namespace accelopt::suites
