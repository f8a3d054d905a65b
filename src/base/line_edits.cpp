// SPDX-License-Identifier: Apache-2.0
#include "base/line_edits.hpp"

#include <algorithm>
#include <charconv>

#include "base/unified_diff.hpp"

namespace accelopt::base {
namespace {

std::string ended(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out;
}

/// Takes the first line, without its end, off the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Lines before the hunk of "@@ -12,3 +14,5 @@"; where it removes nothing and shows none, its number is the line
/// before.
std::size_t first_line_of(std::string_view header) {
  std::size_t number = 0;
  std::size_t count = 1;
  const char* const end = header.data() + header.size();
  const auto [rest, failed] = std::from_chars(header.data() + 4, end, number);
  if (failed == std::errc() && rest != end && *rest == ',') std::from_chars(rest + 1, end, count);
  return count == 0 ? number : number - 1;
}

}  // namespace

std::vector<LineEdit> line_edits(std::string_view before, std::string_view after) {
  const std::string diff = unified_diff(ended(before), ended(after), "a", "b");
  std::vector<LineEdit> edits;
  std::string_view rest = diff;
  std::size_t line = 0;
  bool inside = false;  // behind the names of the files
  bool open = false;    // the last edit goes on
  while (!rest.empty()) {
    const std::string_view text = take_line(rest);
    if (text.starts_with("@@ ")) {
      line = first_line_of(text);
      inside = true;
      open = false;
      continue;
    }
    if (!inside) continue;
    if (!text.starts_with('-') && !text.starts_with('+')) {
      ++line;
      open = false;
      continue;
    }
    if (!open) edits.push_back({.line = line});
    open = true;
    if (text.starts_with('-')) {
      ++edits.back().removed;
      ++line;
    } else {
      edits.back().added.emplace_back(text.substr(1));
    }
  }
  return edits;
}

std::string with_edits(std::string_view before, const std::vector<LineEdit>& edits) {
  const std::string text = ended(before);
  std::string_view rest = text;
  std::string out;
  std::size_t line = 0;
  for (const LineEdit& edit : edits) {
    for (; line < edit.line && !rest.empty(); ++line) out.append(take_line(rest)).append("\n");
    for (const std::string& added : edit.added) out.append(added).append("\n");
    for (std::size_t i = 0; i < edit.removed && !rest.empty(); ++i, ++line) take_line(rest);
  }
  return out.append(rest);
}

}  // namespace accelopt::base
