// SPDX-License-Identifier: Apache-2.0
// Pointers that callers may pass as null, as the function's own tests show.
#pragma once

#include <string>
#include <vector>

#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// The pointer parameters, in order, that the function compares with null or takes for a truth value: itself, by a
/// local copy, or in a function or a macro of the same file that it passes them to.
std::vector<std::string> parameters_tested_for_null(const syntax::Unit& unit, const syntax::Function& function);

}  // namespace accelopt::scaffold
