// SPDX-License-Identifier: Apache-2.0
// Small faults put into a function, to find out which of them its tests see.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "refactor/languages.hpp"

namespace accelopt::refactor {

struct Mutant {
  std::size_t line = 0;  ///< from 1
  std::string what;      ///< "< became <="
  std::string text;      ///< of the whole file
};

/// At most so many, spread evenly over the function, or over the whole file where `function` is empty. Strings and
/// comments stay as they are. The same each time. @error as find_function.
base::Result<std::vector<Mutant>> mutants_of(const CodeLanguage& language, const std::string& source,
                                             const std::string& function, std::size_t most);

/// 0 to count - 1 in an order of which any beginning is spread over all of them: for who may have to stop early.
std::vector<std::size_t> spread_order(std::size_t count);

}  // namespace accelopt::refactor
