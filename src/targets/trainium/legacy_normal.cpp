// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/legacy_normal.hpp"

#include <cmath>
#include <utility>

namespace accelopt::targets::trainium {

double LegacyNormal::uniform() {
  const auto high = static_cast<double>(bits_() >> 5U);
  const auto low = static_cast<double>(bits_() >> 6U);
  constexpr double kHighParts = 67'108'864;         // 2^26
  constexpr double kParts = 9'007'199'254'740'992;  // 2^53
  return (high * kHighParts + low) / kParts;
}

double LegacyNormal::standard() {
  if (kept_) return *std::exchange(kept_, std::nullopt);
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  kept_ = factor * x;
  return factor * y;
}

}  // namespace accelopt::targets::trainium
