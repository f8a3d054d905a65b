// SPDX-License-Identifier: Apache-2.0
#include "base/duration.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace accelopt::base {

std::string duration_text(double nanoseconds) {
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr std::array<Unit, 4> kUnits{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  if (!std::isfinite(nanoseconds)) return "-";
  const Unit* unit = kUnits.data();
  // 999.6 would be written as 1000.
  while (unit + 1 != kUnits.data() + kUnits.size() && nanoseconds >= unit[1].size * 0.9995) ++unit;
  const double value = nanoseconds / unit->size;
  const int decimals = unit->size == 1 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, unit->name);
  return text.data();
}

}  // namespace accelopt::base
