// SPDX-License-Identifier: Apache-2.0
// What a kernel makes again and again, and a compiler makes once where it can keep it.
#pragma once

#include <cstdint>
#include <vector>

#include "targets/trainium/lower.hpp"

namespace accelopt::targets::trainium {

struct Repeats {
  std::vector<std::uint32_t> place;  ///< by buffer: the one that has its contents; itself, where nothing is kept
  std::vector<bool> dropped;         ///< by instruction: it only makes what is there
  std::int64_t loads = 0;            ///< that are dropped
};

/// Tiles on the chip whose contents an earlier tile has: `literal` keeps what is only loaded, `hoist` also what is
/// transposed and copied. Of each input either all such tiles stay on the chip, or none: the tensors whose tiles take
/// the most room are given up until the rest fits in SBUF. That the compiler does so is seen in recorded profiles.
Repeats find_repeats(const Program& program, const Generation& chip, Policy policy);

}  // namespace accelopt::targets::trainium
