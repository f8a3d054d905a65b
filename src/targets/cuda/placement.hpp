// SPDX-License-Identifier: Apache-2.0
// The same machine code at another place, for a confirmation's second copy.
#pragma once

#include "base/result.hpp"
#include "model/solution.hpp"
#include "targets/cuda/build.hpp"

namespace accelopt::targets::cuda {

/// The solution with a kernel before and one behind its own, which nobody launches: whichever way the assembler orders
/// functions, its own lie behind one or both of them.
model::Solution with_padding(const model::Solution& solution);

/// Whether the copy's launched kernels are the same machine code, each with another alignment to 512 bytes than it has
/// in `built`.
base::Result<bool> lies_elsewhere(const BuiltCuda& built, const BuiltCuda& copy);

}  // namespace accelopt::targets::cuda
