// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html/markup.hpp"

namespace accelopt::report::html {

/// A line of both texts side by side; a number of 0: the line is not in that text.
struct DiffRow {
  int before_number = 0;
  int after_number = 0;
  std::string before;
  std::string after;
  bool changed = false;
  bool gap = false;  ///< lines that did not change are left out here
};

/// The rows of a unified diff as base::unified_diff writes it: within a change, removed and added lines stand side by
/// side in order.
std::vector<DiffRow> side_by_side(std::string_view unified);

/// A unified diff of one file as a table of four columns; nothing where it has no line.
Markup diff_table(std::string_view unified, const std::string& caption, const std::string& before_title,
                  const std::string& after_title);

/// The diff of two texts as a table of four columns; a sentence where they are equal.
Markup diff_table(std::string_view before, std::string_view after, const std::string& caption,
                  const std::string& before_title, const std::string& after_title);

}  // namespace accelopt::report::html
