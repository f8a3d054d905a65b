// SPDX-License-Identifier: Apache-2.0
// Code that reads a floating-point number's bits as an integer, which has no form over `real`.
#pragma once

#include <string>

namespace accelopt::scaffold {

/// The first such place as the source writes it, on one line: a union, a copy of memory, a cast of a pointer, or one of
/// the functions for it (`std::bit_cast`, `__float_as_int`). Empty: none is seen.
std::string bit_trick(const std::string& source);

}  // namespace accelopt::scaffold
