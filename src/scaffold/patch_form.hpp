// SPDX-License-Identifier: Apache-2.0
// How a winner's own compile flags reach the user's build.
#pragma once

#include <string>
#include <vector>

#include "model/solution.hpp"

namespace accelopt::scaffold {

enum class FlagsBy { nothing, pragmas, own_file };

/// How the winner is put into the user's code.
struct PatchForm {
  FlagsBy flags_by = FlagsBy::nothing;
  std::vector<std::string> flags;  ///< with which the winner was measured: "-O3", "-ffast-math", "-mavx2"
};

/// `#pragma GCC optimize` and `target` lines for the flags; flags that have no such form are left out.
std::string flag_pragmas(const std::vector<std::string>& flags);

}  // namespace accelopt::scaffold
