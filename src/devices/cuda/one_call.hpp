// SPDX-License-Identifier: Apache-2.0
// `accelopt-device --one-call FILE`: one call outside of the measurement, for tools that look into a process from
// without (Nsight Compute, compute-sanitizer).
#pragma once

#include <string>

#include "base/result.hpp"

namespace accelopt::devices::cuda {

/// Carries out a OneCallRequest: every tensor lies in an allocation of exactly its size, without guards or checks, so
/// that a tool sees each byte that a kernel reads or writes beside it; or as in the resident process, so that a kernel
/// which looks where its tensors lie behaves as there. The driver's profiler is on while the plan's kernels run and off
/// while inputs are drawn. Outputs are not looked at.
///
/// Ends this process by SIGALRM when the request's time is up, and with exit code 4 as soon as the caller's lock
/// (flock) on the file is gone, if there was one at the beginning: whoever started the tool may have died, or killed it
/// and not us, and a kernel that spins would hold the device.
///
/// The worker's resident accelopt-device still holds its context and slots meanwhile, and is idle: the worker asks one
/// process at a time and has the device's lock, so neither disturbs the other. What they share is the device's memory.
/// @error io, invalid_argument: the file; exhausted: device memory; timed_out, internal: as Device.
base::Result<void> carry_out_one_call(const std::string& file);

}  // namespace accelopt::devices::cuda
