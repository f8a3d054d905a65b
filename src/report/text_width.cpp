// SPDX-License-Identifier: Apache-2.0
#include "report/text_width.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace accelopt::report {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Combining marks, joiners, directional marks and variation selectors: they add no column.
constexpr std::array kNoColumn = std::to_array<Range>({{0x0300, 0x036F},
                                                       {0x0483, 0x0489},
                                                       {0x0591, 0x05BD},
                                                       {0x064B, 0x065F},
                                                       {0x1AB0, 0x1AFF},
                                                       {0x1DC0, 0x1DFF},
                                                       {0x200B, 0x200F},
                                                       {0x202A, 0x202E},
                                                       {0x2060, 0x2064},
                                                       {0x20D0, 0x20FF},
                                                       {0xFE00, 0xFE0F},
                                                       {0xFE20, 0xFE2F},
                                                       {0xFEFF, 0xFEFF}});

/// @source Unicode's East Asian Width: the blocks that are wide or full-width, and emoji.
constexpr std::array kTwoColumns = std::to_array<Range>({{0x1100, 0x115F},
                                                         {0x2E80, 0x303E},
                                                         {0x3041, 0xA4CF},
                                                         {0xA960, 0xA97F},
                                                         {0xAC00, 0xD7A3},
                                                         {0xF900, 0xFAFF},
                                                         {0xFE30, 0xFE6F},
                                                         {0xFF00, 0xFF60},
                                                         {0xFFE0, 0xFFE6},
                                                         {0x1F300, 0x1F64F},
                                                         {0x1F680, 0x1F6FF},
                                                         {0x1F900, 0x1F9FF},
                                                         {0x20000, 0x3FFFD}});

template <std::size_t Size>
bool lies_in(const std::array<Range, Size>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

using base::Character;
using base::first_character;

bool is_control(char32_t code) {
  const bool separator = code == 0x2028 || code == 0x2029;
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || separator || base::changes_direction(code);
}

std::size_t columns_of(const Character& character) {
  if (!character.valid) return 1;
  if (lies_in(kNoColumn, character.code)) return 0;
  return lies_in(kTwoColumns, character.code) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) {
      result += '?';
    } else if (is_control(character.code)) {
      result += ' ';
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    columns += columns_of(character);
    text.remove_prefix(character.bytes);
  }
  return columns;
}

std::string clip(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  constexpr std::string_view kMore = "...";
  if (columns <= kMore.size()) return std::string(kMore.substr(0, columns));
  std::size_t used = 0;
  std::size_t bytes = 0;
  for (;;) {
    const Character character = first_character(text.substr(bytes));
    used += columns_of(character);
    if (used > columns - kMore.size()) break;
    bytes += character.bytes;
  }
  return std::string(text.substr(0, bytes)) + std::string(kMore);
}

}  // namespace accelopt::report
