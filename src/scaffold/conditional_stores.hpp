// SPDX-License-Identifier: Apache-2.0
// Outputs that a function writes for some data and leaves alone for other.
#pragma once

#include <set>
#include <string>

#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// The condition on data under which a store through the parameter is left out, as the text has it: "x[i] == 0"; empty:
/// none was found. `data` are the parameters whose values are data: tensors, and numbers by value that are no axes.
/// Conditions on sizes and places, and loops that run zero times, do not count; nor does what cannot be seen: stores in
/// functions that are called.
std::string condition_of_store(const syntax::Unit& unit, const syntax::Function& function, const std::string& parameter,
                               const std::set<std::string>& data);

}  // namespace accelopt::scaffold
