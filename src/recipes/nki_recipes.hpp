// SPDX-License-Identifier: Apache-2.0
// Recipes for NKI kernels: wider tiles, loads and transposes that are made once, functions and scalars in one
// instruction, copies left out, kinds of loops. They look at the text alone; whether the result is right is verified.
#pragma once

#include <vector>

#include "recipes/engine.hpp"

namespace accelopt::recipes {

/// Every recipe that applies, in a fixed order.
std::vector<Application> enumerate_nki(const KernelSource& kernel);

/// @error invalid_argument: an unknown recipe, no such place, or it does not apply there.
base::Result<std::string> apply_nki(const KernelSource& kernel, const Application& application);

}  // namespace accelopt::recipes
