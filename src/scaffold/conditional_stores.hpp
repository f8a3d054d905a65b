// SPDX-License-Identifier: Apache-2.0
// What a function leaves out depending on data: stores, and reads of its inputs.
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

/// Whether the function may end without having read all of its inputs: it leaves a loop early, loops for as long as
/// data says, picks elements by indices that are data, or calls a function of the library that does.
bool may_leave_inputs_unread(const syntax::Unit& unit, const syntax::Function& function,
                             const std::set<std::string>& data);

}  // namespace accelopt::scaffold
