// SPDX-License-Identifier: Apache-2.0
// What an NKI loop makes again and again, made once before it and kept in SBUF.
#pragma once

#include <string>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

inline constexpr const char* kKeep = "hoisting of tiles";

struct Keeping {
  std::string loop;   ///< its variable
  std::string names;  ///< of the tiles
  double prior = 1;
};

/// Loops with statements that do not depend on them: in their own block, or in a loop right in it.
std::vector<Keeping> keepings(const std::vector<Statement>& all);

/// The kernel with those of one loop made before it; none: there are none.
std::optional<std::vector<Statement>> kept(std::vector<Statement> all, const std::string& loop);

}  // namespace accelopt::recipes::nki
