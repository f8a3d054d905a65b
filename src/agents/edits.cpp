// SPDX-License-Identifier: Apache-2.0
#include "agents/edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "agents/prompt_parts.hpp"
#include "agents/quote.hpp"
#include "agents/special_tokens.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"

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
  std::string above;  ///< the line before the block that says something
};

bool says_something(std::string_view line) {
  return !trimmed_line(line).empty() && !trimmed_line(line).starts_with("```");
}

/// `tokens`: those of the files, which the blocks' new lines get as they are there.
Parsed<std::vector<Edit>> edits_in(std::string_view answer, const ShownTokens& tokens) {
  enum class Part { none, search, replace };
  std::vector<Edit> edits;
  Part part = Part::none;
  std::string above;
  for (const std::string& line : source_lines(answer)) {
    if (line == kSearch) {
      if (part != Part::none)
        return tl::make_unexpected(fmt::format("block {} does not end with {}", edits.size(), kReplace));
      edits.push_back({{}, {}, above});
      part = Part::search;
    } else if (part == Part::search && line == kDivide) {
      part = Part::replace;
    } else if (part == Part::replace && line == kReplace) {
      part = Part::none;
    } else if (part == Part::search) {
      edits.back().search.push_back(line);
    } else if (part == Part::replace) {
      edits.back().replace.push_back(tokens.restored(line));
    } else if (says_something(line)) {
      above = line;
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
  return quoted_lines(out, kNearestBytes);
}

/// Whether the searched lines stand there, but begin or end within a line.
bool holds_part(const Lines& searched, const Lines& lines) {
  const auto all = [](const Lines& text) {
    std::string out;
    for (const std::string& line : text) out += (out.empty() ? "" : "\n") + line;
    return out;
  };
  const std::string part = all(searched);
  return !base::trimmed(part).empty() && all(lines).find(part) != std::string::npos;
}

/// As the question showed them.
Lines as_shown(const Lines& lines) {
  Lines out;
  out.reserve(lines.size());
  for (const std::string& line : lines) out.push_back(with_broken_tokens(line));
  return out;
}

/// Where the block stands in the lines, both as they were shown; it must be there once.
Parsed<std::ptrdiff_t> place_of(const Edit& edit, std::size_t number, const Lines& file_lines) {
  if (edit.search.empty())
    return tl::make_unexpected(fmt::format("block {} searches for nothing; name lines of the file", number));
  if (edit.search.size() > kMostSearchedLines) {
    return tl::make_unexpected(
        fmt::format("block {} searches for more than {} lines; name fewer, or write the complete file", number,
                    kMostSearchedLines));
  }
  const Lines lines = as_shown(file_lines);
  const Lines searched = as_shown(edit.search);
  const auto found = std::search(lines.begin(), lines.end(), searched.begin(), searched.end());
  if (found == lines.end()) {
    const char* const what = holds_part(searched, lines) ? "only a part of a line there" : "not in the file";
    return tl::make_unexpected(fmt::format(
        "what block {} searches for is {}. The nearest lines there are:\n{}\nCopy lines of the file word for "
        "word and whole, or write the complete file",
        number, what, nearest(lines, searched)));
  }
  if (std::search(found + 1, lines.end(), searched.begin(), searched.end()) != lines.end()) {
    return tl::make_unexpected(
        fmt::format("what block {} searches for is in the file several times; name more lines around it", number));
  }
  return found - lines.begin();
}

constexpr const char* kDeceptive =
    "the file holds control characters or characters that change the direction of writing";

/// A file whose untouched lines stay as they are, blanks at their ends and kinds of line ends alike.
class EditedFile {
 public:
  explicit EditedFile(std::string_view text) : lines_(source_lines(text)) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      exact_.emplace_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    line_end_ = !exact_.empty() && exact_.front().ends_with("\r\n") ? "\r\n" : "\n";
  }

  Parsed<void> apply(const Edit& edit, std::size_t number) {
    TRY_ASSIGN(const std::ptrdiff_t at, place_of(edit, number, lines_));
    const auto count = static_cast<std::ptrdiff_t>(edit.search.size());
    lines_.insert(lines_.erase(lines_.begin() + at, lines_.begin() + at + count), edit.replace.begin(),
                  edit.replace.end());
    Lines exact;
    for (const std::string& line : edit.replace) exact.push_back(line + line_end_);
    exact_.insert(exact_.erase(exact_.begin() + at, exact_.begin() + at + count), exact.begin(), exact.end());
    return {};
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::string& line : exact_) text += line;
    return text;
  }

 private:
  Lines lines_;  ///< without blanks at their ends: what is searched
  Lines exact_;  ///< the same lines as they are
  std::string line_end_;
};

/// The file that the line above a block names; none: it names no file.
const model::SourceFile* file_named(std::string_view line, const model::Solution& solution) {
  for (const model::SourceFile& file : solution.sources) {
    const std::size_t at = line.rfind(file.name);
    if (at == std::string_view::npos) continue;
    // "**`src/a.py`**:" names it, "src/a.pyc" and "lib/src/a.py" do not.
    const auto joins = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_'; };
    const std::string_view after = line.substr(at + file.name.size());
    if ((at == 0 || !joins(line[at - 1])) && (after.empty() || !joins(after.front()))) return &file;
  }
  return nullptr;
}

}  // namespace

bool is_edited_by_path(const model::Solution& solution) {
  return model::describe(solution.language).form == model::KernelForm::files;
}

bool may_be_edited(const model::Solution& solution) {
  return std::ranges::count(model::main_text(solution), '\n') > kLongFile;
}

namespace {

std::string answer_form_of_files(const model::Solution& solution) {
  return fmt::format(
      "Your answer holds search/replace blocks, one or several, applied in order, each behind a line with the path of "
      "the file that it changes:\n{}\n{}\nlines of the file, word for word, enough of them to be found "
      "once\n{}\nthe lines in their place\n{}\nEach block changes what the ones before it left. No line is left out "
      "or shortened.",
      solution.sources.front().name, kSearch, kDivide, kReplace);
}

}  // namespace

std::string answer_form(const model::Solution& solution) {
  if (is_edited_by_path(solution)) return answer_form_of_files(solution);
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
  ShownTokens tokens;
  tokens.add(source);
  TRY_ASSIGN(const std::vector<Edit> edits, edits_in(answer, tokens));
  Lines lines = source_lines(source);
  for (std::size_t number = 1; number <= edits.size(); ++number) {
    const Edit& edit = edits[number - 1];
    TRY_ASSIGN(const std::ptrdiff_t found, place_of(edit, number, lines));
    const auto first = lines.begin() + found;
    const auto at = lines.erase(first, first + static_cast<std::ptrdiff_t>(edit.search.size()));
    lines.insert(at, edit.replace.begin(), edit.replace.end());
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (has_deceptive_characters(text)) return tl::make_unexpected(std::string(kDeceptive));
  return text;
}

Parsed<model::Solution> edited_files(std::string_view answer, const model::Solution& start) {
  ShownTokens tokens;
  for (const model::SourceFile& file : start.sources) tokens.add(file.text);
  TRY_ASSIGN(const std::vector<Edit> edits, edits_in(answer, tokens));
  if (edits.empty()) return tl::make_unexpected(fmt::format("it has no block that begins with {}", kSearch));
  std::map<std::string, EditedFile> files;
  const model::SourceFile* named = start.sources.size() == 1 ? &start.sources.front() : nullptr;
  for (std::size_t number = 1; number <= edits.size(); ++number) {
    const Edit& edit = edits[number - 1];
    if (const model::SourceFile* const file = file_named(edit.above, start)) named = file;
    if (named == nullptr) {
      return tl::make_unexpected(
          fmt::format("block {} does not say which file it changes; put the path on the line before it", number));
    }
    TRY(files.try_emplace(named->name, named->text).first->second.apply(edit, number));
  }
  model::Solution changed = start;
  for (model::SourceFile& file : changed.sources) {
    const auto found = files.find(file.name);
    if (found == files.end()) continue;
    file.text = found->second.text();
    if (has_deceptive_characters(file.text)) return tl::make_unexpected(std::string(kDeceptive));
  }
  return changed;
}

}  // namespace accelopt::agents
