// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/launch_plan.hpp"

namespace accelopt::targets::cuda {

/// Everything of a plan that decides what runs, for a hash: kernels by their place in `kernels`, and no names.
std::string plan_text(const model::LaunchPlan& plan, const std::vector<std::string>& kernels);

}  // namespace accelopt::targets::cuda
