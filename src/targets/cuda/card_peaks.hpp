// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "evaluation/reports.hpp"
#include "targets/cuda/card_device.hpp"

namespace accelopt::targets::cuda {

/// Measures what the device does at most, the best of several runs of each kernel of kernels/peak_kernels.cu, in less
/// than a second. @error as CardDevice.
base::Result<evaluation::Peaks> measure_peaks(CardDevice& device, const std::string& cubin);

}  // namespace accelopt::targets::cuda
