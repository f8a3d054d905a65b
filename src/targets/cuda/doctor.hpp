// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/finding.hpp"

namespace accelopt::targets::cuda {

/// NVRTC, CUDA's headers, the driver and its devices, Nsight Compute, compute-sanitizer and nvdisasm. The driver is
/// opened in a process of its own with a time limit: a broken one can neither hang nor end this program. Returns 0:
/// nothing of it has to be there.
int examine(const evaluation::Environment& environment, const evaluation::Report& report);

}  // namespace accelopt::targets::cuda
