// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::base {

/// Lines of one text that another has in place of some of its own.
struct LineEdit {
  std::size_t line = 0;     ///< before which it stands, or the first that it removes; from 0
  std::size_t removed = 0;  ///< lines
  std::vector<std::string> added{};
  bool operator==(const LineEdit&) const = default;
};

/// The edits that turn `before` into `after`, in order, apart by at least one line that stays; fewest lines, as
/// unified_diff. A last line without an end is taken to have one.
std::vector<LineEdit> line_edits(std::string_view before, std::string_view after);

/// The text with these edits made; they are of that text and in order.
std::string with_edits(std::string_view before, const std::vector<LineEdit>& edits);

}  // namespace accelopt::base
