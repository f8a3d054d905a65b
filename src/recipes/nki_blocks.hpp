// SPDX-License-Identifier: Apache-2.0
// Several iterations of an outer loop side by side, so that what they all need is loaded once for all of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

inline constexpr const char* kBlocks = "blocks of iterations";

/// The kernel with up to so many iterations (4 or 2) of this loop made together: what loops in it load independently of
/// it is loaded once for all, and each of the other tiles gets one place for each iteration. The largest divisor of the
/// number of iterations is taken when the kernel is traced. None: the loop's iterations are not known to be
/// independent, something in it is not understood, or nothing would be shared.
std::optional<std::vector<Statement>> blocked(const std::vector<Statement>& all, std::size_t loop, int most);

/// Of the outermost loop for which there is one.
std::optional<std::vector<Statement>> blocked(const std::vector<Statement>& all, int most);

}  // namespace accelopt::recipes::nki
