// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// What opening the task takes of this machine's memory, where the target keeps no slots of its own: `slots` sets of
/// inputs with their expected outputs for every workload, and what the largest of them is made and called with. Bytes;
/// a double, because no sum of sizes overflows it.
double memory_need(const model::Task& task, int slots);

/// Refuses, before any of it is taken, what does not fit: a machine that runs out ends programs that have nothing to do
/// with it. `available`: bytes. @error exhausted: how much it is, and what to do.
base::Result<void> check_memory(const model::Task& task, int slots, std::uint64_t available);

}  // namespace accelopt::evaluation
