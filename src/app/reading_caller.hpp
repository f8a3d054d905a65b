// SPDX-License-Identifier: Apache-2.0
// Kernels whose stores go past the caches, and what that costs a caller who reads the outputs.
#pragma once

#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// Whether a kernel in C or C++ asks for non-temporal stores. Its own time is without what reading its outputs from
/// memory takes.
bool stores_past_caches(const model::Solution& solution);

/// The solution with its outputs read, a byte of each cache line, at the end of each call.
model::Solution with_outputs_read(const model::Definition& definition, const model::Solution& solution);

}  // namespace accelopt::app
