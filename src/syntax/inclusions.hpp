// SPDX-License-Identifier: Apache-2.0
// Which files a source includes, as the preprocessor finds them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "syntax/source.hpp"

namespace accelopt::syntax {

/// A file that was entered.
struct Inclusion {
  std::string file;  ///< its path, as libclang names it
  int line = 0;      ///< of the #include, in the file that holds it; from 1
  int depth = 0;     ///< 1: the source itself includes it
};

/// The files that the source includes and those that these include, as often as each is entered, in the order of
/// entering: not those of branches that are not compiled, nor those that a guard or #pragma once keeps out. Headers
/// that cannot be found are left out. `headers` and `before` of the input are not read.
/// @error as parse.
base::Result<std::vector<Inclusion>> inclusions_of(const Clang& clang, const ParseInput& input);

}  // namespace accelopt::syntax
