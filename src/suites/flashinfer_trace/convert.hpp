// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"
#include "suites/flashinfer_trace/dataset.hpp"

namespace accelopt::suites::flashinfer_trace {

/// A definition with its workloads as accelopt's own. Without target, baseline and reference.
struct Converted {
  model::Task task;                          ///< no workloads: the dataset has none that a task can have
  std::map<std::string, std::string> uuids;  ///< of the task's workloads, by their names
  std::vector<std::string> lost;             ///< workloads that no task can have, each with the reason
  std::size_t left_out = 0;                  ///< workloads that could be had and are more than was asked for
  std::vector<std::string> notes;            ///< what is not as the dataset has it, each once
};

/// Takes at most `most_workloads`, chosen by size; 0: all. @error unsupported: no task can say what the definition
/// says.
base::Result<Converted> convert(const Entry& entry, std::size_t most_workloads);

}  // namespace accelopt::suites::flashinfer_trace
