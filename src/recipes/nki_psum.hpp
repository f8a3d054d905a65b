// SPDX-License-Identifier: Apache-2.0
// VectorE combines two tiles twice as fast where one of them lies in PSUM.
#pragma once

#include <optional>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

inline constexpr const char* kPsum = "operands in PSUM";

/// Whether the call's result lies in PSUM: TensorE's, a broadcast, or what asks for it.
bool lies_in_psum(const Call& call);

/// Which operands lie in PSUM: results of VectorE alone, or also others, which are copied there.
enum class InPsum { results, copies };

/// The kernel with operands of VectorE in PSUM; none: nothing would change.
std::optional<std::vector<Statement>> through_psum(const std::vector<Statement>& all, InPsum which);

}  // namespace accelopt::recipes::nki
