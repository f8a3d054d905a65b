// SPDX-License-Identifier: Apache-2.0
// VectorE combines two tiles twice as fast where one of them lies in PSUM.
#pragma once

#include <optional>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

inline constexpr const char* kPsum = "operands in PSUM";

/// The kernel with results of VectorE left in PSUM where it reads them again, and with `copies` also with other
/// operands copied there; none: nothing would change.
std::optional<std::vector<Statement>> through_psum(const std::vector<Statement>& all, bool copies);

}  // namespace accelopt::recipes::nki
