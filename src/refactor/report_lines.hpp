// SPDX-License-Identifier: Apache-2.0
// Reports that are read line by line.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text.hpp"

namespace accelopt::refactor {

/// Calls `take` with each line of the text, without its end.
template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::string_view line = base::first_line(text);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    take(line);
  }
}

}  // namespace accelopt::refactor
