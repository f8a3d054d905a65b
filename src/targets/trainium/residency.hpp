// SPDX-License-Identifier: Apache-2.0
// Which tiles lie on the chip when, and what has to leave it for others.
#pragma once

#include "targets/trainium/lower.hpp"

namespace accelopt::targets::trainium {

/// Gives all work its tiles. Where those that are alive at once do not fit in SBUF, in the order of the kernel, the one
/// that is needed last leaves: it is saved to HBM unless it is there as it is, and loaded again when it is needed.
void assign_tiles(const Program& program, const Generation& chip, Lowered& lowered);

}  // namespace accelopt::targets::trainium
