// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/solution.hpp"

namespace accelopt::scaffold {

struct RealSource {
  std::string source;
  std::vector<std::string> vector_names;  ///< intrinsics and vector types, which have no `real` form
};

/// What becomes of double, and of literals without a suffix, which are of that type.
enum class Doubles {
  become_real,
  stay  ///< of a function over narrower data, which computes with them in double on purpose
};

/// The text over the type `real`: float and double become it, floating literals are converted to it, and the float
/// functions of <math.h> (sqrtf) become those that take any floating type (std::sqrt, or <tgmath.h>'s in C).
RealSource over_real(const std::string& source, model::Language language, Doubles doubles = Doubles::become_real);

}  // namespace accelopt::scaffold
