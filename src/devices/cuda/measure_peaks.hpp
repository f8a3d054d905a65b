// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "devices/cuda/device.hpp"
#include "evaluation/reports.hpp"

namespace accelopt::devices::cuda {

/// Measures what the device does at most, the best of several runs of each kernel of kernels/peak_kernels.cu, in less
/// than a second. @error as Device.
base::Result<evaluation::Peaks> measure_peaks(Device& device, const std::string& cubin);

}  // namespace accelopt::devices::cuda
