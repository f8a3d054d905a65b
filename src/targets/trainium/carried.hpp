// SPDX-License-Identifier: Apache-2.0
// What iterations of an affine loop owe to each other's order, of which an affine loop has none.
#pragma once

#include <cstdint>
#include <optional>

#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// The affine loop whose iterations both are in different ones of; none: -1.
std::int32_t racing_loop(const Program& program, std::uint32_t iteration, std::uint32_t other);

/// Two instructions in different iterations of an affine loop that touch one place, so that their order matters.
struct Carried {
  enum class Kind {
    both_write,  ///< not as a sum, product, maximum or minimum of all iterations
    reads        ///< the second one reads what the first one wrote
  };
  Kind kind = Kind::both_write;
  std::uint32_t first = 0;  ///< instruction
  std::uint32_t second = 0;
  std::uint32_t buffer = 0;
};

/// The first such pair on tiles and on tensors in HBM. Writes to outputs that no instruction reads are left out, and so
/// is what an iteration reads before another one writes it.
std::optional<Carried> carried_dependence(const Program& program);

}  // namespace accelopt::targets::trainium
