// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/finding.hpp"

namespace accelopt::targets::trainium {

/// Reports which Python would trace NKI kernels. How much is missing without which nothing is measured: none, other
/// targets do without.
int examine(const evaluation::Environment& environment, const evaluation::Report& report);

}  // namespace accelopt::targets::trainium
