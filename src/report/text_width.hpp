// SPDX-License-Identifier: Apache-2.0
// Text on a terminal: how wide it is, and how to make a text that somebody else wrote safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace accelopt::report {

/// One line that a terminal shows and does not obey: control characters (escape sequences among them) and those that
/// reorder text become blanks, bytes that are no UTF-8 become '?'.
std::string printable(std::string_view text);

/// The same for a text of several lines, which stay lines.
std::string printable_lines(std::string_view text);

/// Columns that the UTF-8 text takes: wide characters two, combining ones none.
std::size_t display_width(std::string_view text);

/// The text if it fits into the columns, else its beginning with "..." at the end.
std::string clip(std::string_view text, std::size_t columns);

}  // namespace accelopt::report
