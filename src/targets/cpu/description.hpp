// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/target_description.hpp"

namespace accelopt::targets::cpu {

/// C and C++ kernels on a processor.
const model::TargetDescription& description();

}  // namespace accelopt::targets::cpu
