// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/target_description.hpp"

namespace accelopt::targets::triton {

/// Triton solutions, captured and replayed on a CUDA device.
const model::TargetDescription& description();

}  // namespace accelopt::targets::triton
