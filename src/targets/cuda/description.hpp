// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/target_description.hpp"

namespace accelopt::targets::cuda {

/// CUDA kernels on a device of NVIDIA's.
const model::TargetDescription& description();

}  // namespace accelopt::targets::cuda
