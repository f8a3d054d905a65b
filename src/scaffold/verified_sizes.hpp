// SPDX-License-Identifier: Apache-2.0
// The sizes on which a task's kernels were verified.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/task.hpp"

namespace accelopt::scaffold {

/// The shortest and the longest extent of a variable axis over all workloads.
struct VerifiedExtents {
  std::string axis;
  std::int64_t smallest = 1;
  std::int64_t largest = 1;
};

/// In calling order; without axes that no workload gives.
std::vector<VerifiedExtents> verified_extents(const model::Task& task);

/// The most elements of the tensor in one workload, where the longest extents of its axes together make more: nothing
/// was verified on so many. 0: the longest extents stand in one workload.
std::int64_t most_verified_elements(const model::Task& task, const model::TensorSpec& tensor);

/// For people: for which sizes a patch calls the winner, and how to widen them. `unknown`: what unknown_extents gives,
/// so that only the workloads' own sizes are sure. Empty: no axis varies.
std::string note_on_sizes(const model::Task& task, const std::vector<std::string>& unknown);

}  // namespace accelopt::scaffold
