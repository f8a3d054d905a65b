// SPDX-License-Identifier: Apache-2.0
// What ptxas says of kernels, and whether a launch fits. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cuda/cubin.hpp"
#include "devices/cuda/residency.hpp"
#include "model/launch_plan.hpp"

namespace accelopt::targets::cuda {

/// What ptxas -v reported of every function in the log: registers, spills, stack, shared memory. Functions that it did
/// not mention are not there. Read as hostile text.
std::vector<devices::cuda::KernelResources> parse_resources(std::string_view log);

/// Why the launch cannot run: threads, registers, shared memory or cluster beyond what the kernel was compiled for or
/// the device has, or parameters of another number or size than args give. None: it can.
std::optional<std::string> refused_launch(const model::KernelLaunch& launch,
                                          const devices::cuda::KernelResources& resources,
                                          const devices::cuda::CubinKernel& kernel, const model::Definition& definition,
                                          const devices::cuda::DeviceLimits& limits);

}  // namespace accelopt::targets::cuda
