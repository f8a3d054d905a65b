// SPDX-License-Identifier: Apache-2.0
#include "agents/quote.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "base/text.hpp"

namespace accelopt::agents {
namespace {

constexpr std::string_view kCut = " [cut]";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Valid UTF-8 without the characters that clean() takes out; line ends are '\n'.
std::string readable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const base::Character c = base::first_character(text);
    if (!c.valid) {
      out += kReplacement;
    } else if (c.code == '\r') {
      if (!text.starts_with("\r\n")) out += '\n';
    } else if (!base::is_control(c.code) && !base::is_invisible(c.code) && !base::changes_direction(c.code)) {
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

/// The special tokens of chat templates begin and end so; in C and C++ neither can stand outside of a comment or a
/// string.
constexpr auto kSpecialTokens = std::to_array<std::string_view>({"<|", "|>"});

/// Each mark is broken by a blank after its first character.
std::string break_up(std::string_view text, std::span<const std::string_view> wrappers) {
  std::string begins;  // few characters begin a mark, no letter among them: the rest is copied in runs
  for (const std::string_view wrapper : wrappers) {
    if (begins.find(wrapper.front()) == std::string::npos) begins += wrapper.front();
  }
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find_first_of(begins, at)) != std::string_view::npos;) {
    const std::string_view rest = text.substr(at++);
    if (std::ranges::none_of(wrappers, [rest](std::string_view wrapper) { return same_letters(rest, wrapper); }))
      continue;
    out += text.substr(done, at - done);
    out += ' ';
    done = at;
  }
  return out += text.substr(done);
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
  return cut(break_up(out, base::kMessageMarks), longest_bytes);
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
    const base::Character c = base::first_character(text);
    const bool form_feed = c.code == '\f' || c.code == '\v';
    if (c.valid && ((base::is_control(c.code) && !form_feed) || base::changes_direction(c.code))) return true;
    text.remove_prefix(c.bytes);
  }
  return false;
}

}  // namespace accelopt::agents
