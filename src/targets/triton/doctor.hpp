// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/finding.hpp"

namespace accelopt::targets::triton {

/// Reports which Python and Triton would capture. How much is missing without which nothing is measured: none, other
/// targets do without.
int examine(const evaluation::Environment& environment, const evaluation::Report& report);

}  // namespace accelopt::targets::triton
