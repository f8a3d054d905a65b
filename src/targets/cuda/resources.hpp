// SPDX-License-Identifier: Apache-2.0
// What kernels take of a multiprocessor, and whether a launch fits. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/launch_plan.hpp"
#include "targets/cuda/build.hpp"
#include "targets/cuda/cubin.hpp"

namespace accelopt::targets::cuda {

/// What ptxas -v reported of every function in the log: registers, spills, stack, shared memory. Functions that it did
/// not mention are not there. Read as hostile text.
std::vector<KernelResources> parse_resources(std::string_view log);

/// Why the launch cannot run: threads, registers, shared memory or cluster beyond what the kernel was compiled for or
/// the device has, or parameters of another number or size than args give. None: it can.
std::optional<std::string> refused_launch(const model::KernelLaunch& launch, const KernelResources& resources,
                                          const CubinKernel& kernel, const model::Definition& definition,
                                          const DeviceLimits& limits);

/// "gemm: 96 registers a thread, no spills, 1024 bytes of static shared memory; 50 % occupancy, limited by registers".
std::string resource_remark(const KernelResources& resources, const model::KernelLaunch& launch,
                            const DeviceLimits& limits);

}  // namespace accelopt::targets::cuda
