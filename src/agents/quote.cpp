// SPDX-License-Identifier: Apache-2.0
#include "agents/quote.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <span>

namespace accelopt::agents {
namespace {

constexpr std::string_view kCut = " [cut]";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// One character: its value and its bytes. Bytes that are not UTF-8 are one character of value kInvalid each.
struct Character {
  static constexpr std::uint32_t kInvalid = 0xffffffffU;
  std::uint32_t value = kInvalid;
  std::size_t bytes = 1;
};

Character first_character(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                                                           : 0;
  if (length == 0 || text.size() < length) return {};
  std::uint32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};  // by length: no overlong forms
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[length] || surrogate || value > 0x10ffff) return {};
  return {value, length};
}

bool changes_direction(std::uint32_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool is_control(std::uint32_t c) {
  const bool layout = c == '\t' || c == '\n' || c == '\r';
  return (c < 0x20 && !layout) || (c >= 0x7f && c < 0xa0);
}

/// Characters that take no place on a screen: text could hide in them.
bool is_invisible(std::uint32_t c) {
  return c == 0x00ad || (c >= 0x200b && c <= 0x200d) || (c >= 0x2028 && c <= 0x2029) || (c >= 0x2060 && c <= 0x2064) ||
         c == 0xfeff || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0000 && c <= 0xe0fff);
}

/// Valid UTF-8 without the characters that clean() takes out; line ends are '\n'.
std::string readable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.value == Character::kInvalid) {
      out += kReplacement;
    } else if (c.value == '\r') {
      if (!text.starts_with("\r\n")) out += '\n';
    } else if (!is_control(c.value) && !is_invisible(c.value) && !changes_direction(c.value)) {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

/// Runs of three and more of `mark` become as many of `instead`.
void break_fences(std::string& text, char mark, char instead) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(mark, at), text.size());
    if (end - at >= 3)
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end),
                instead);
    at = end;
  }
}

bool same_letters(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char have) {
           return std::tolower(static_cast<unsigned char>(have)) == want;
         });
}

/// How chat templates and prompts begin and end messages; each is broken by a blank after its first character.
constexpr auto kWrappers = std::to_array<std::string_view>(
    {"<|",        "|>",         "[inst",      "[/inst",      "<<sys",          "<</sys",        "<system", "</system",
     "<user",     "</user",     "<assistant", "</assistant", "<instruction",   "</instruction", "<tool",   "</tool",
     "<function", "</function", "<think",     "</think",     "<start_of_turn", "<end_of_turn",  "<s>",     "</s>"});

/// The special tokens of chat templates begin and end so; in C and C++ neither can stand outside of a comment or a
/// string.
constexpr auto kSpecialTokens = std::to_array<std::string_view>({"<|", "|>"});

std::string break_up(std::string_view text, std::span<const std::string_view> wrappers) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    const std::string_view rest = text.substr(at);
    if (std::ranges::any_of(wrappers, [rest](std::string_view wrapper) { return same_letters(rest, wrapper); }))
      out += ' ';
  }
  return out;
}

/// At most `longest` bytes, cut between two characters, with a mark where something is missing.
std::string cut(std::string text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text + std::string(kCut);
}

}  // namespace

std::string clean(std::string_view text, std::size_t longest_bytes) {
  // A little more than will be shown is all that is worth cleaning of a huge text.
  std::string out = readable(text.substr(0, std::min(text.size(), 4 * longest_bytes + 64)));
  break_fences(out, '`', '\'');
  break_fences(out, '~', '-');
  return cut(break_up(out, kWrappers), longest_bytes);
}

std::string clean_line(std::string_view text, std::size_t longest_bytes) {
  const std::string cleaned = clean(text, longest_bytes);
  std::string out;
  for (const char c : cleaned) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string quoted(std::string_view text, std::size_t longest_bytes) {
  std::string cleaned = clean(text, longest_bytes);
  while (cleaned.ends_with('\n') || cleaned.ends_with(' ')) cleaned.pop_back();
  if (cleaned.empty()) return "| (empty)";
  std::string out = "| ";
  for (const char c : cleaned) {
    out += c;
    if (c == '\n') out += "| ";
  }
  return out;
}

std::string fenced(std::string_view text, std::string_view info) {
  std::size_t longest_run = 2;
  for (std::size_t at = 0; (at = text.find('`', at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest_run = std::max(longest_run, end - at);
    at = end;
  }
  const std::string fence(longest_run + 1, '`');
  return fence + std::string(info) + "\n" + break_up(text, kSpecialTokens) + (text.ends_with('\n') ? "" : "\n") + fence;
}

bool has_deceptive_characters(std::string_view text) {
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool form_feed = c.value == '\f' || c.value == '\v';
    if (c.value != Character::kInvalid && ((is_control(c.value) && !form_feed) || changes_direction(c.value)))
      return true;
    text.remove_prefix(c.bytes);
  }
  return false;
}

}  // namespace accelopt::agents
