// SPDX-License-Identifier: Apache-2.0
// Compile flags of the user's own build, with which a solution is measured as that build compiles it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/solution.hpp"

namespace accelopt::model {

/// Whether a flag decides how kernels are compiled and may be given to a compiler: those of `//@ flags`, other levels
/// of -O, and the processor's name and vector instructions.
bool is_user_flag(std::string_view flag);

/// The solution as a build with these flags compiles it: they are added to those of every kernel build. They travel as
/// a source file of their own, and so are part of the source id.
Solution with_user_flags(Solution solution, const std::vector<std::string>& flags);

/// The flags that a solution carries so; none as a rule. @error invalid_argument: one is not on the list.
base::Result<std::vector<std::string>> user_flags_of(const Solution& solution);

}  // namespace accelopt::model
