// SPDX-License-Identifier: Apache-2.0
// What the winner of a run is compared with at its end: other kernels of the task, and programs of the user's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/shell.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "model/task.hpp"
#include "search/result.hpp"

namespace accelopt::app {

/// One of `accelopt run --against`.
struct RunArm {
  std::string name;
  std::optional<model::Solution> kernel{};  ///< none: a program that times itself
  std::string command{};                    ///< for /bin/sh
};

/// "NAME=FILE" or "NAME=!COMMAND", each under a name of its own. @error as read_arm; invalid_argument: a name twice.
base::Result<std::vector<RunArm>> read_run_arms(const std::vector<std::string>& texts, const model::Task& task);

/// As a run's settings keep them.
base::Json to_json(const std::vector<RunArm>& arms);
/// @error parse.
base::Result<std::vector<RunArm>> run_arms_from(const base::Json& json);

/// What comparing needs. All of it outlives the call.
struct ArmPorts {
  const Shell& shell;
  /// A device on which the task is open. Asked for once, and only where a kernel is to be raced.
  std::function<base::Result<evaluation::Evaluator*>()> open;
  std::function<void(const std::string&)> note;
};

/// Races each kernel in pairs of calls with the winner, the same inputs for both, after it was verified as a candidate
/// is; runs each command, which times itself and is neither raced nor verified. @error cancelled; as the evaluator.
base::Result<std::vector<search::ComparedWith>> compare_winner(const ArmPorts& ports, const std::vector<RunArm>& arms,
                                                               const model::Task& task,
                                                               const search::RunResult& result);

/// The comparisons that a run's result has on record; none: it has none.
base::Result<std::vector<search::ComparedWith>> compared_on_record(const std::optional<base::Json>& result);

}  // namespace accelopt::app
