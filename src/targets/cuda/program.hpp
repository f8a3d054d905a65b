// SPDX-License-Identifier: Apache-2.0
// From launch plans as directives give them to those that the device server takes.
#pragma once

#include <string>

#include "devices/cuda/program.hpp"
#include "model/launch_plan.hpp"
#include "model/task.hpp"

namespace accelopt::targets::cuda {

/// Under which name a program has the plan for these axes (all bound): the values of those that vary, "M=64 N=512".
std::string plan_name(const model::Definition& definition, const model::AxisValues& axes);

/// The plan with tensors, scalars and tensor maps by their names; axes are int64 constants. `definition` is the one
/// that the plan was bound to. All launches are of the program's first cubin.
devices::cuda::LaunchPlan device_plan(const model::LaunchPlan& plan, const model::Definition& definition);

}  // namespace accelopt::targets::cuda
