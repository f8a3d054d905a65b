// SPDX-License-Identifier: Apache-2.0
// What the ratios of a task compare, and how people say it: times of kernels; of a repository's code what its goal is.
#pragma once

#include <string>
#include <string_view>

#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::model {

/// A ratio is always old / new, so that over 1 is better.
struct Measure {
  std::string_view goal;         ///< "time"
  std::string_view better;       ///< "faster"
  std::string_view worse;        ///< "slower"
  std::string_view gain;         ///< "speed-up"
  std::string_view by_workload;  ///< what a workload's own ratio is: of a text's figures the time, a guard
  std::string_view ratio;        ///< "the old time / the new time"
  std::string_view than;         ///< of the parent: "2.00x its parent's speed"
  std::string_view makes;        ///< a format: "run {} as fast", of a ratio
  std::string_view runs;         ///< "runs {} as fast"
  std::string_view wanted;       ///< "less processor time"
};

/// Of a goal of refactor.toml; any other name: that of time.
const Measure& measure_of(std::string_view goal);
const Measure& measure_of(const Task& task);

/// "runs 2.00x as fast as the baseline".
std::string compared(const Measure& measure, std::string_view ratio, std::string_view with);

/// The verdict of a race in the words of what was compared: "faster", "smaller".
std::string verdict_word(Verdict verdict, const Measure& measure);

}  // namespace accelopt::model
