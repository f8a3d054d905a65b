// SPDX-License-Identifier: Apache-2.0
// References of functions that turn floats into integers.
#pragma once

#include <string>

#include "model/task.hpp"

namespace accelopt::scaffold {

/// The name of the function's own text in such a reference.
inline constexpr const char* kInOwnPrecision = "in_own_precision";

/// Whether all that is written are integers, and floats are read: which integer comes out then hangs on each rounding
/// of the function, and a reference in double rounds some of them the other way.
bool makes_integers_of_floats(const model::Definition& definition);

/// The reference as a function that calls kInOwnPrecision, a kernel of this definition in `scope` ("a::B", or empty),
/// on its floats as they were given.
std::string reference_in_own_precision(const model::Definition& definition, model::Language language,
                                       const std::string& scope);

}  // namespace accelopt::scaffold
