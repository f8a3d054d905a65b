// SPDX-License-Identifier: Apache-2.0
#include "agents/quote.hpp"

#include <algorithm>
#include <cctype>
#include <span>

#include "agents/special_tokens.hpp"
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

/// Of code the bars stay where they are no special token's: they are operators of Elixir, F#, OCaml, R and Gleam.
constexpr std::span<const std::string_view> kMarksInCode = std::span(base::kMessageMarks).subspan<2>();
static_assert(base::kMessageMarks[0] == "<|" && base::kMessageMarks[1] == "|>");

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

/// A little more than will be shown is all that is worth cleaning of a huge text.
std::string readable_beginning(std::string_view text, std::size_t longest_bytes) {
  return readable(text.substr(0, std::min(text.size(), 4 * longest_bytes + 64)));
}

std::string readable_without_fences(std::string_view text, std::size_t longest_bytes) {
  std::string out = readable_beginning(text, longest_bytes);
  break_fences(out, '`', '\'');
  break_fences(out, '~', '-');
  return out;
}

/// Each line behind "| ", without a line end after the last.
std::string behind_marks(std::string text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  if (text.empty()) return "| (empty)";
  std::string out = "| ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "| ";
  }
  return out;
}

}  // namespace

std::string clean(std::string_view text, std::size_t longest_bytes) {
  return cut(break_up(readable_without_fences(text, longest_bytes), base::kMessageMarks), longest_bytes);
}

std::string clean_code(std::string_view text, std::size_t longest_bytes) {
  return cut(with_broken_tokens(break_up(readable_without_fences(text, longest_bytes), kMarksInCode)), longest_bytes);
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
  return behind_marks(clean(text, longest_bytes));
}

std::string quoted_lines(std::string_view source, std::size_t longest_bytes) {
  return behind_marks(cut(with_broken_tokens(readable_beginning(source, longest_bytes)), longest_bytes));
}

std::string fenced(std::string_view text, std::string_view info) {
  std::size_t longest_run = 2;
  for (std::size_t at = 0; (at = text.find('`', at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest_run = std::max(longest_run, end - at);
    at = end;
  }
  const std::string fence(longest_run + 1, '`');
  return fence + std::string(info) + "\n" + with_broken_tokens(text) + (text.ends_with('\n') ? "" : "\n") + fence;
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
