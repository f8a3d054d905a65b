// SPDX-License-Identifier: Apache-2.0
// The recipes of the languages whose blocks are told by braces: patterns of lines, as a table a language.
#pragma once

#include <string>
#include <vector>

#include "refactor/functions.hpp"
#include "refactor/recipes.hpp"

namespace accelopt::refactor {

/// What they offer for the function at this place of the file with these lines.
std::vector<Proposal> propose_for_braces(const CodeLanguage& language, const std::vector<SourceLine>& lines,
                                         const FunctionPlace& place);

}  // namespace accelopt::refactor
