// SPDX-License-Identifier: Apache-2.0
// Recipes for Triton kernels: warps, stages and tile sizes opened for the tuner, hints for caches, loops shared among
// programs (split-K, split-KV). They look at the text alone; whether the result is right is verified.
#pragma once

#include <vector>

#include "recipes/engine.hpp"

namespace accelopt::recipes {

/// Every recipe that applies, in a fixed order.
std::vector<Application> enumerate_triton(const KernelSource& kernel);

/// @error invalid_argument: an unknown recipe, no such place, or it does not apply there.
base::Result<std::string> apply_triton(const KernelSource& kernel, const Application& application);

}  // namespace accelopt::recipes
