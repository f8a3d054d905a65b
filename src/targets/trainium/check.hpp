// SPDX-License-Identifier: Apache-2.0
// What NKI's compiler refuses, found in a kernel's instructions. Strict: there is no other mode.
#pragma once

#include <string>

#include "targets/trainium/chip.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// The first thing that is refused: the catalogue's name, what it is, and what to do.
struct Refusal {
  int line = 0;
  std::string message;  ///< empty: nothing is refused
};

/// Limits of sizes, memory spaces, partitions and banks; iterations of an affine loop whose order matters; outputs that
/// are not written.
Refusal check(const Program& program, const Generation& chip);

}  // namespace accelopt::targets::trainium
