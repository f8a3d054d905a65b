// SPDX-License-Identifier: Apache-2.0
// Loops whose iterations are independent but for sums.
#pragma once

#include <optional>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

/// The kernel with this loop an nl.affine_range, and sums in it written as such, `total += part`; none: an iteration
/// needs what another one wrote, or it is an affine or unrolled loop already.
std::optional<std::vector<Statement>> made_affine(const std::vector<Statement>& all, std::size_t loop);

}  // namespace accelopt::recipes::nki
