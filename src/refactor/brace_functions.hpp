// SPDX-License-Identifier: Apache-2.0
// Functions of the languages whose blocks are told by braces, found by their headers.
#pragma once

#include <string_view>
#include <vector>

#include "refactor/functions.hpp"

namespace accelopt::refactor {

/// Those with a body in braces, in the order of their bodies. What macros make up is not seen.
std::vector<FunctionPlace> brace_functions_of(const CodeLanguage& language, std::string_view source);

/// The lines; comments of a line of their own are not blank here.
std::vector<SourceLine> brace_lines_of(const CodeLanguage& language, std::string_view source);

}  // namespace accelopt::refactor
