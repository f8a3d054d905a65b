// SPDX-License-Identifier: Apache-2.0
// 16-bit outputs: honest kernels pass, and what doubles the variance among elements of one size does not.
#pragma once

#include <cstdint>

namespace accelopt::evaluation {

/// Prints one line a figure. Whether all kept their bounds.
bool judge_bands(std::uint64_t seed);

}  // namespace accelopt::evaluation
