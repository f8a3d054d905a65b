// SPDX-License-Identifier: Apache-2.0
#include "refactor/mutants.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "refactor/functions.hpp"

namespace accelopt::refactor {
namespace {

using base::Result;

struct MarkSwap {
  std::string_view from;
  std::string_view to;
};
/// The first that fits is taken. Those that may also be a sign or a bracket need blanks around them.
constexpr auto kMarks = std::to_array<MarkSwap>({{"===", "!=="},
                                                 {"!==", "==="},
                                                 {"<=", "<"},
                                                 {">=", ">"},
                                                 {"==", "!="},
                                                 {"!=", "=="},
                                                 {"&&", "||"},
                                                 {"||", "&&"},
                                                 {"+=", "-="},
                                                 {"-=", "+="},
                                                 {" < ", " <= "},
                                                 {" > ", " >= "},
                                                 {" + ", " - "},
                                                 {" - ", " + "},
                                                 {" * ", " + "},
                                                 {" % ", " + "}});
/// Marks that are none of the above although one of those is part of them.
constexpr auto kLeftAlone = std::to_array<std::string_view>({"->", "=>", "::", ":=", "//", "**", "<<", ">>"});
constexpr auto kWords = std::to_array<MarkSwap>({{"and", "or"},
                                                 {"or", "and"},
                                                 {"not", ""},
                                                 {"True", "False"},
                                                 {"False", "True"},
                                                 {"true", "false"},
                                                 {"false", "true"},
                                                 {"break", "continue"},
                                                 {"continue", "break"},
                                                 {"min", "max"},
                                                 {"max", "min"}});

bool is_word_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// A place of the source, and what stands there in its stead.
struct Mutation {
  std::size_t at = 0;
  std::size_t length = 0;
  std::string to;
};

/// Walks over a text and collects edits, outside of strings and comments.
class MutationFinder {
 public:
  MutationFinder(const CodeLanguage& language, std::string_view text)
      : text_(text), braces_(language.form == FunctionForm::braces) {}

  std::vector<Mutation> edits(std::size_t from, std::size_t to) {
    at_ = from;
    while (at_ < to) {
      if (!skip_comment() && !skip_string() && !take_word() && !take_mark()) ++at_;
    }
    return std::move(edits_);
  }

 private:
  [[nodiscard]] bool here(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  bool skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + end.size();
    return true;
  }

  bool skip_comment() {
    if (here(braces_ ? "//" : "#")) return skip_past("\n");
    return braces_ && here("/*") && skip_past("*/");
  }

  bool skip_string() {
    for (const std::string_view quote : {R"(""")", "'''"}) {
      if (braces_ || !here(quote)) continue;
      at_ += quote.size();
      return skip_past(quote);
    }
    const char quote = text_[at_];
    if (quote != '"' && quote != '`' && quote != '\'') return false;
    // A lifetime of Rust, or a separator of digits, is no string.
    constexpr std::size_t kLongestCharacter = 12;
    const bool single = braces_ && quote == '\'';
    const bool closes = text_.substr(at_ + 1, single ? kLongestCharacter : text_.npos).find(quote) != text_.npos;
    ++at_;
    if (!closes) return true;
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return true;
  }

  bool take_word() {
    if (!is_word_part(text_[at_])) return false;
    std::size_t end = at_;
    while (end < text_.size() && is_word_part(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    for (const MarkSwap& swap : kWords) {
      if (word == swap.from) edits_.push_back({at_, word.size(), std::string(swap.to)});
    }
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc{} && rest == word.data() + word.size())
      edits_.push_back({at_, word.size(), std::to_string(std::uint64_t{number} + 1)});
    at_ = end;
    return true;
  }

  bool take_mark() {
    for (const std::string_view alone : kLeftAlone) {
      if (!here(alone)) continue;
      at_ += alone.size();
      return true;
    }
    for (const MarkSwap& swap : kMarks) {
      if (!here(swap.from)) continue;
      edits_.push_back({at_, swap.from.size(), std::string(swap.to)});
      at_ += swap.from.size() - (swap.from.ends_with(' ') ? 1 : 0);
      return true;
    }
    return false;
  }

  std::string_view text_;
  bool braces_;
  std::size_t at_ = 0;
  std::vector<Mutation> edits_;
};

/// Whether a line is a statement that may be missing without the compiler's noticing.
bool is_plain_statement(const CodeLanguage& language, std::string_view text) {
  if (text.starts_with("return")) return false;
  if (language.form == FunctionForm::braces) {
    const bool acts = text.ends_with(");") || text.ends_with("++;") || text.ends_with("--;");
    return acts && text.find('=') == text.npos;
  }
  constexpr auto kOthers = std::to_array<std::string_view>({"@", "pass", "import ", "from ", "\"", "'", "#"});
  return !text.ends_with(':') &&
         std::ranges::none_of(kOthers, [&](std::string_view other) { return text.starts_with(other); });
}

/// Whole statements that are left out.
std::vector<Mutation> lost_statements(const CodeLanguage& language, const std::string& source, std::size_t from,
                                      std::size_t to) {
  std::vector<Mutation> edits;
  const auto lines = lines_of(language, source);
  std::size_t next = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t at = next;
    next += lines[i].text.size();
    const bool is_whole = !lines[i].inside && (i + 1 == lines.size() || !lines[i + 1].inside);
    if (at < from || next > to || lines[i].blank || !is_whole) continue;
    const std::size_t indent = lines[i].text.find_first_not_of(" \t");
    if (indent == std::string_view::npos) continue;
    std::string_view text = lines[i].text.substr(indent);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    if (is_plain_statement(language, text))
      edits.push_back({at + indent, text.size(), language.form == FunctionForm::braces ? ";" : "pass"});
  }
  return edits;
}

std::string shown_piece(std::string_view text) {
  constexpr std::size_t kMost = 60;
  text = text.substr(0, kMost);
  const std::size_t from = text.find_first_not_of(' ');
  if (from == text.npos) return "nothing";
  return std::string(text.substr(from, text.find_last_not_of(' ') + 1 - from));
}

}  // namespace

Result<std::vector<Mutant>> mutants_of(const CodeLanguage& language, const std::string& source,
                                       const std::string& function, std::size_t most) {
  std::size_t from = 0;
  std::size_t to = source.size();
  if (!function.empty()) {
    TRY_ASSIGN(const FunctionPlace place, find_function(language, source, function));
    const auto lines = lines_of(language, source);
    from = text_of(lines, 0, place.body).size();
    to = text_of(lines, 0, place.last).size();
  }
  std::vector<Mutation> edits = MutationFinder(language, source).edits(from, to);
  for (Mutation& edit : lost_statements(language, source, from, to)) edits.push_back(std::move(edit));
  std::ranges::stable_sort(edits, {}, &Mutation::at);
  std::vector<Mutant> mutants;
  const std::size_t count = std::min(most, edits.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Mutation& edit = edits[i * edits.size() / count];
    const auto lines = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(edit.at), '\n');
    mutants.push_back(
        {.line = static_cast<std::size_t>(lines) + 1,
         .what = fmt::format("{} became {}", shown_piece(std::string_view(source).substr(edit.at, edit.length)),
                             shown_piece(edit.to)),
         .text = source.substr(0, edit.at) + edit.to + source.substr(edit.at + edit.length)});
  }
  return mutants;
}

std::vector<std::size_t> spread_order(std::size_t count) {
  constexpr double kGoldenSection = 0.6180339887498949;
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t i = 0; i < count; ++i) {
    const double turns = static_cast<double>(i) * kGoldenSection;
    places.emplace_back(turns - std::floor(turns), i);
  }
  std::ranges::sort(places);
  std::vector<std::size_t> order;
  for (const auto& [place, i] : places) order.push_back(i);
  return order;
}

}  // namespace accelopt::refactor
