// SPDX-License-Identifier: Apache-2.0
// Comparison arms that are programs of the user's: a library's call, a compiled model. They time themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::app {

struct CommandArm {
  std::string name;
  std::string command;  ///< for /bin/sh
};

/// How an arm's times came about, as results label them.
inline constexpr std::string_view kOwnClock = "its own clock; neither raced nor verified";

struct CommandTiming {
  std::string workload;
  std::size_t samples = 0;
  model::Interval time_ns;  ///< of one call
};

struct TimedCommand {
  CommandArm arm;
  std::vector<CommandTiming> workloads;  ///< those that are raced
  std::string failure;                   ///< why there is no more; empty: there is
};

/// "NAME=!COMMAND"; none: the text does not have that form.
std::optional<CommandArm> command_arm(std::string_view text);

/// Runs the command once for each raced workload, in the folder where accelopt runs, as the user and not in the
/// sandbox. It finds the workload's name in ACCELOPT_WORKLOAD and each axis in ACCELOPT_AXIS_NAME, and prints the times
/// of single calls in nanoseconds, five or more, a line each. What it gets wrong is `failure`. @error cancelled; io.
base::Result<TimedCommand> time_command(const Shell& shell, const CommandArm& arm, const model::Task& task);

/// How many times as fast the kernel is as the command on that workload; the interval is of the command's times alone,
/// because the kernel's are medians. None: the kernel was not timed there.
std::optional<model::Interval> speed_over(const model::Evaluation& kernel, const CommandTiming& timing);

/// An entry of `against` in the evaluation object of docs/json.md.
base::Json to_json(const model::Evaluation& kernel, const TimedCommand& timed);

}  // namespace accelopt::app
