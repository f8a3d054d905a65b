// SPDX-License-Identifier: Apache-2.0
// Changes of code that need no model: a few slow patterns with what to write instead. They are textual, so each result
// is a proposal that the gates must pass.
#pragma once

#include <string>
#include <vector>

#include "refactor/task.hpp"

namespace accelopt::refactor {

struct Proposal {
  std::string strategy;  ///< its name, as experiences are stored
  std::string why;       ///< one sentence
  std::string text;      ///< of the whole file
};

/// What the recipes of the language offer for this function of the file; empty `function`: for every function.
std::vector<Proposal> propose(const CodeLanguage& language, const std::string& source, const std::string& function);

}  // namespace accelopt::refactor
