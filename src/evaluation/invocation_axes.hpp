// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/bench.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// Every axis of the definition as an invocation has it. Requires a value for each variable one.
model::AxisValues axes_of(const model::Definition& definition, const Invocation& invocation);

}  // namespace accelopt::evaluation
