// SPDX-License-Identifier: Apache-2.0
// What is found out about captured plans and machine code before anything of them runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "capture/answer.hpp"
#include "devices/cuda/cubin.hpp"
#include "devices/cuda/residency.hpp"

namespace accelopt::targets::triton {

/// The kernel that each cubin is launched for, and what it takes.
struct Inspected {
  std::string problem;  ///< why the plans are refused; empty: they are not
  std::vector<devices::cuda::CubinKernel> kernels;
  std::vector<devices::cuda::KernelResources> resources;
};

/// Whether an output that no data has gone into is refused: where the host knows values that differ from slot to slot,
/// it could make such an output by itself.
enum class KnownOutputs { taken, refused };

/// Looks at cubins, at every launch against the device's limits, and at what outputs are made of.
Inspected inspect(const capture::Captured& captured, const std::vector<capture::Shapes>& shapes,
                  const devices::cuda::DeviceLimits& limits, KnownOutputs known);

/// Everything that decides what runs, for a hash. @error corrupt: a cubin.
base::Result<std::string> identity_of(const capture::Captured& captured, const Inspected& inspected);

}  // namespace accelopt::targets::triton
