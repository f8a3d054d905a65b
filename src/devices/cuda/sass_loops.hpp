// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation.hpp"

namespace accelopt::devices::cuda {

/// The at most three loops with the most work, one profile item each: instructions of one turn (the value), source
/// lines, depth, and how many of which instructions. Ranked by nesting alone, as every loop took the same number of
/// turns. Loops that only wait are left out, and kernels whose jumps are not all known.
/// @param disassembly what `nvdisasm -c -g` printed @param kernels those that are launched
std::vector<model::ProfileItem> describe_sass_loops(std::string_view disassembly,
                                                    const std::vector<std::string>& kernels);

}  // namespace accelopt::devices::cuda
