// SPDX-License-Identifier: Apache-2.0
#include "agents/edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agents/prompt_parts.hpp"
#include "agents/quote.hpp"

namespace accelopt::agents {
namespace {

constexpr std::ptrdiff_t kLongFile = 200;  ///< lines
// Of one block: each is compared with each line of the file, in the worst case.
constexpr std::size_t kMostSearchedLines = 1000;
constexpr std::size_t kNearestLines = 12;     ///< shown of the source
constexpr std::size_t kNearestBytes = 1'200;  ///< of them
constexpr std::string_view kSearch = "<<<<<<< SEARCH";
constexpr std::string_view kDivide = "=======";
constexpr std::string_view kReplace = ">>>>>>> REPLACE";

using Lines = std::vector<std::string>;

std::string_view without_end_blanks(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string_view trimmed_line(std::string_view line) {
  line = without_end_blanks(line);
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

Lines source_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(without_end_blanks(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Edit {
  Lines search;
  Lines replace;
};

Parsed<std::vector<Edit>> edits_in(std::string_view answer) {
  enum class Part { none, search, replace };
  std::vector<Edit> edits;
  Part part = Part::none;
  for (const std::string& line : source_lines(answer)) {
    if (line == kSearch) {
      if (part != Part::none)
        return tl::make_unexpected(fmt::format("block {} does not end with {}", edits.size(), kReplace));
      edits.emplace_back();
      part = Part::search;
    } else if (part == Part::search && line == kDivide) {
      part = Part::replace;
    } else if (part == Part::replace && line == kReplace) {
      part = Part::none;
    } else if (part == Part::search) {
      edits.back().search.push_back(line);
    } else if (part == Part::replace) {
      edits.back().replace.push_back(line);
    }
  }
  if (part != Part::none)
    return tl::make_unexpected(fmt::format("block {} does not end with {}", edits.size(), kReplace));
  return edits;
}

/// How alike two lines are, 0 to 1: what they begin and end with.
double likeness(std::string_view a, std::string_view b) {
  a = trimmed_line(a);
  b = trimmed_line(b);
  if (a == b) return 1;
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t front = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return static_cast<double>(front + back) / static_cast<double>(std::max(a.size(), b.size()));
}

/// The lines of the source that are most like the first ones that were searched for: as many as are shown. All of a
/// long block against every line of a long file would take minutes.
std::string nearest(const Lines& source, const Lines& search) {
  const std::size_t compared = std::min(search.size(), kNearestLines);
  double best = -1;
  std::size_t at = 0;
  for (std::size_t first = 0; first < source.size(); ++first) {
    double sum = 0;
    for (std::size_t i = 0; i < compared && first + i < source.size(); ++i)
      sum += likeness(source[first + i], search[i]);
    if (sum > best) {
      best = sum;
      at = first;
    }
  }
  std::string out;
  const std::size_t end = std::min(at + compared, source.size());
  for (std::size_t i = at; i < end; ++i) out += source[i] + "\n";
  return quoted(out, kNearestBytes);
}

}  // namespace

bool may_be_edited(const model::Solution& solution) {
  return std::ranges::count(model::main_text(solution), '\n') > kLongFile;
}

std::string answer_form(const model::Solution& solution) {
  std::string form = fmt::format(
      "Your answer ends with exactly one fenced block that holds the complete file, from its first line (directives "
      "and "
      "includes) to its last, with nothing left out:\n```{}\nthe complete file\n```",
      fence_of(solution.language));
  if (!may_be_edited(solution)) return form;
  return form +
         fmt::format(
             "\nThe file is long. Where most of it stays, your answer may hold search/replace blocks instead, one "
             "or several, applied in order:\n{}\nlines of the file, word for word, enough of them to be found "
             "once\n{}\nthe lines in their place\n{}",
             kSearch, kDivide, kReplace);
}

bool has_edits(std::string_view answer) {
  return std::ranges::any_of(source_lines(answer), [](const std::string& line) { return line == kSearch; });
}

Parsed<std::string> edited(std::string_view answer, std::string_view source) {
  TRY_ASSIGN(const std::vector<Edit> edits, edits_in(answer));
  Lines lines = source_lines(source);
  for (std::size_t number = 1; number <= edits.size(); ++number) {
    const Edit& edit = edits[number - 1];
    if (edit.search.empty())
      return tl::make_unexpected(fmt::format("block {} searches for nothing; name lines of the file", number));
    if (edit.search.size() > kMostSearchedLines) {
      return tl::make_unexpected(
          fmt::format("block {} searches for more than {} lines; name fewer, or write the complete file", number,
                      kMostSearchedLines));
    }
    const auto found = std::search(lines.begin(), lines.end(), edit.search.begin(), edit.search.end());
    if (found == lines.end()) {
      return tl::make_unexpected(
          fmt::format("what block {} searches for is not in the file. The nearest lines there are:\n{}\nCopy lines of "
                      "the file word for word, or write the complete file",
                      number, nearest(lines, edit.search)));
    }
    if (std::search(found + 1, lines.end(), edit.search.begin(), edit.search.end()) != lines.end()) {
      return tl::make_unexpected(
          fmt::format("what block {} searches for is in the file several times; name more lines around it", number));
    }
    const auto at = lines.erase(found, found + static_cast<std::ptrdiff_t>(edit.search.size()));
    lines.insert(at, edit.replace.begin(), edit.replace.end());
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (has_deceptive_characters(text))
    return tl::make_unexpected(
        std::string("the file holds control characters or characters that change the direction of writing"));
  return text;
}

}  // namespace accelopt::agents
