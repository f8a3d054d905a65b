// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "base/problem.hpp"
#include "model/task.hpp"

namespace accelopt::suites {

/// What a static check knows besides the task.
struct LintOptions {
  int cores = 1;                 ///< of the machine that will measure
  std::filesystem::path folder;  ///< of the task, or its task.toml: for [entry] and for messages
};

/// Checks that need no compiler and no run, of a task that loads: what would fail later (errors) and what would prove
/// or report less than it could (advice). Empty when there is nothing to say.
std::vector<base::Problem> lint_task(const model::Task& task, const LintOptions& options);

}  // namespace accelopt::suites
