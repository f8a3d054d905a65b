// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// The text of what a function reaches in its file: itself, the functions that it calls, and the types, constants and
/// macros that these name. Where a name has several meanings, all of them.
std::string reached_text(const syntax::Unit& unit, const syntax::Function& function);

}  // namespace accelopt::scaffold
