// SPDX-License-Identifier: Apache-2.0
#include "base/line_ranges.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace accelopt::base {

std::string lines_text(const std::set<int>& lines) {
  constexpr std::size_t kMostRanges = 4;
  std::vector<std::pair<int, int>> ranges;
  for (const int line : lines) {
    if (ranges.empty() || line > ranges.back().second + 1) ranges.emplace_back(line, line);
    ranges.back().second = line;
  }
  if (ranges.empty()) return {};
  if (ranges.size() > kMostRanges) ranges = {{*lines.begin(), *lines.rbegin()}};
  std::string out = lines.size() == 1 ? "line " : "lines ";
  for (const auto& [first, last] : ranges) {
    if (!out.ends_with(' ')) out += ", ";
    out += std::to_string(first) + (first == last ? "" : " to " + std::to_string(last));
  }
  return out;
}

}  // namespace accelopt::base
