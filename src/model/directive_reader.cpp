// SPDX-License-Identifier: Apache-2.0
#include "model/directive_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/expression.hpp"
#include "base/text.hpp"
#include "model/c_tokens.hpp"

namespace accelopt::model {
namespace {

// More than anyone tunes: a slip of the pen is told at once.
constexpr std::size_t kMostTunedNames = 16;
constexpr std::size_t kMostValues = 64;
constexpr std::int64_t kLargestValue = 0x7fffffff;  ///< a macro is an int
constexpr std::size_t kLongestExpression = 1000;    ///< characters
constexpr std::size_t kMostFlags = 64;

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r';
}
bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
}  // namespace

tl::expected<std::vector<DirectiveLine>, DirectiveProblem> directive_lines(std::string_view source) {
  std::vector<DirectiveLine> lines;
  if (source.find("//@") == std::string_view::npos) return lines;
  int line = 1;
  std::size_t counted = 0;
  for (const Token& token : c_tokens(source)) {
    if (token.kind != TokenKind::directive) continue;
    const std::string_view before = source.substr(0, token.offset);
    line += static_cast<int>(std::count(before.begin() + static_cast<std::ptrdiff_t>(counted), before.end(), '\n'));
    counted = token.offset;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::string_view rest = source.substr(token.offset);
    const DirectiveLine found{rest.substr(0, rest.find('\n')), token.offset, line,
                              static_cast<int>(token.offset - line_start) + 1};
    if (before.substr(line_start).find_first_not_of(" \t") != std::string_view::npos) {
      return tl::make_unexpected(DirectiveProblem{found.line, found.column, "a //@ directive must begin its line"});
    }
    lines.push_back(found);
  }
  return lines;
}

std::string quotable(std::string_view text, std::size_t most) {
  std::string out;
  for (const char letter : text) {
    if (out.size() >= most) return out + "...";
    if (letter >= ' ' && letter <= '~') {
      out += letter;
      continue;
    }
    std::array<char, 8> code{};
    std::snprintf(code.data(), code.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    out += code.data();
  }
  return out;
}

std::size_t word_offset(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !base::is_word(text[at - 1]);
    const std::size_t behind = at + word.size();
    if (begins && (behind == text.size() || !base::is_word(text[behind]))) return at;
  }
  return 0;
}

char DirectiveReader::peek() {
  while (is_blank(here())) ++at_;
  return here();
}

bool DirectiveReader::take(char letter) {
  if (peek() != letter || at_ >= line_.text.size()) return false;
  ++at_;
  return true;
}

std::string_view DirectiveReader::take_word() {
  peek();
  const std::size_t begin = at_;
  while (base::is_word(here())) ++at_;
  return line_.text.substr(begin, at_ - begin);
}

std::string_view DirectiveReader::take_until_blank() {
  peek();
  const std::size_t begin = at_;
  at_ = std::min(line_.text.find_first_of(" \t\r", at_), line_.text.size());
  return line_.text.substr(begin, at_ - begin);
}

tl::expected<std::string, DirectiveProblem> DirectiveReader::take_name(std::string_view what) {
  if (const char first = peek(); !base::is_word(first) || is_digit(first)) {
    return refuse("expected " + std::string(what) + found());
  }
  return std::string(take_word());
}

tl::unexpected<DirectiveProblem> DirectiveReader::refuse(std::string message) const {
  return tl::make_unexpected(DirectiveProblem{line(), column(), quotable(message, 2000)});
}

tl::unexpected<DirectiveProblem> DirectiveReader::refuse_word(std::string_view word, std::string message) const {
  return tl::make_unexpected(DirectiveProblem{line(), column_at(at_ - word.size()), quotable(message, 2000)});
}

std::string DirectiveReader::found() const {
  if (at_ >= line_.text.size()) return ", found the end of the line";
  if (here() == '\\' && line_.text.find_first_not_of(" \t\r", at_ + 1) == std::string_view::npos) {
    return ", found '\\': a directive is one line and cannot be continued";
  }
  return ", found '" + std::string(1, here()) + "'";
}

std::size_t DirectiveReader::end_of_expression(char close) const {
  int depth = 0;
  std::size_t end = at_;
  for (; end < line_.text.size(); ++end) {
    const char letter = line_.text[end];
    if (depth == 0 && (letter == ',' || letter == close)) break;
    if (letter == '(') ++depth;
    if (letter == ')' && --depth < 0) break;
  }
  return end;
}

tl::expected<PlacedExpression, DirectiveProblem> DirectiveReader::expression_between(std::size_t begin,
                                                                                     std::size_t end) {
  at_ = begin;
  if (end - begin > kLongestExpression) return refuse("the expression is longer than 1000 characters");
  std::string_view text = line_.text.substr(begin, end - begin);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.empty()) return refuse("expected an expression" + found());
  if (const auto fault = base::expression_fault(text)) {
    at_ += fault->offset;
    return refuse(fault->reason);
  }
  PlacedExpression out{std::string(text), line(), column()};
  at_ = end;
  return out;
}

tl::expected<std::vector<PlacedExpression>, DirectiveProblem> DirectiveReader::take_expressions(char open, char close,
                                                                                                std::string_view what,
                                                                                                std::size_t most) {
  const std::string owner(what);
  if (!take(open)) return refuse("expected '" + std::string(1, open) + "' after " + owner + found());
  std::vector<PlacedExpression> out;
  do {
    peek();
    if (out.size() == most) return refuse(owner + " takes at most " + std::to_string(most) + " values");
    const std::size_t end = end_of_expression(close);
    auto expression = expression_between(at_, end);
    if (!expression) return tl::make_unexpected(expression.error());
    out.push_back(std::move(*expression));
  } while (take(','));
  if (!take(close)) return refuse("expected ',' or '" + std::string(1, close) + "' in " + owner + found());
  return out;
}

tl::expected<PlacedExpression, DirectiveProblem> DirectiveReader::take_expression() {
  peek();
  const std::string_view text = line_.text;
  std::size_t end = at_;
  while (end < text.size()) {
    // A word and a single '=' behind a blank is the next option.
    const std::size_t word = end;
    while (end < text.size() && base::is_word(text[end])) ++end;
    const std::size_t sign = std::min(text.find_first_not_of(" \t", end), text.size());
    const bool option = end > word && (word == at_ || is_blank(text[word - 1])) && text.substr(sign).starts_with('=') &&
                        !text.substr(sign).starts_with("==");
    if (option) return expression_between(at_, word);
    end += end == word ? 1 : 0;
  }
  return expression_between(at_, text.size());
}

tl::expected<void, DirectiveProblem> DirectiveReader::read_flags(std::vector<std::string>& out,
                                                                 bool (*allowed)(std::string_view)) {
  while (!at_end()) {
    const std::string_view flag = take_until_blank();
    if (!allowed(flag)) {
      return refuse_word(flag, "flag \"" + quotable(flag) + "\" is not on the allow-list of //@ flags");
    }
    if (out.size() == kMostFlags) return refuse_word(flag, "more than 64 flags");
    out.emplace_back(flag);
  }
  return {};
}

tl::expected<void, DirectiveProblem> DirectiveReader::read_tune(TuneDirectives& out) {
  if (at_end()) return refuse("expected NAME in {VALUE, VALUE, ...} after //@ tune");
  while (!at_end()) {
    if (auto read = read_tuned_name(out); !read) return read;
  }
  return {};
}

tl::expected<void, DirectiveProblem> DirectiveReader::read_tuned_name(TuneDirectives& out) {
  peek();
  const int column_of_name = column();
  auto name = take_name("a name");
  if (!name) return tl::make_unexpected(name.error());
  TunedName tuned{std::move(*name), {}, line(), column_of_name, 0, 0};
  if (std::any_of(out.tuned.begin(), out.tuned.end(),
                  [&](const TunedName& known) { return known.name == tuned.name; })) {
    return refuse_word(tuned.name, "\"" + tuned.name + "\" is tuned twice");
  }
  if (out.tuned.size() == kMostTunedNames) return refuse_word(tuned.name, "more than 16 names are tuned");
  if (const std::string_view in = take_word(); in != "in") {
    return refuse_word(
        in, "expected \"in\" after " + tuned.name + (in.empty() ? found() : ", found \"" + quotable(in) + "\""));
  }
  if (peek() != '{') return refuse("expected '{' and the values of " + tuned.name + found());
  tuned.set_begin = line_.offset + at_;
  take('{');
  if (peek() == '}') return refuse("the set of " + tuned.name + " is empty");
  do {
    if (auto value = read_tuned_value(tuned); !value) return value;
  } while (take(','));
  if (!take('}')) return refuse("expected ',' or '}' in the set of " + tuned.name + found());
  tuned.set_end = line_.offset + at_;
  out.tuned.push_back(std::move(tuned));
  return {};
}

tl::expected<void, DirectiveProblem> DirectiveReader::read_tuned_value(TunedName& tuned) {
  const bool negative = peek() == '-';
  const std::size_t digits = at_ + (negative ? 1 : 0);
  std::size_t end = digits;
  std::int64_t value = 0;
  for (; end < line_.text.size() && is_digit(line_.text[end]); ++end) {
    value = value * 10 + (line_.text[end] - '0');
    if (value > kLargestValue) return refuse("a value of " + tuned.name + " does not fit into 31 bits");
  }
  if (end == digits) return refuse("expected a whole number in the set of " + tuned.name + found());
  if (negative) value = -value;
  if (std::find(tuned.values.begin(), tuned.values.end(), value) != tuned.values.end()) {
    return refuse(std::to_string(value) + " appears twice in the set of " + tuned.name);
  }
  if (tuned.values.size() == kMostValues) return refuse("the set of " + tuned.name + " has more than 64 values");
  tuned.values.push_back(value);
  at_ = end;
  return {};
}

tl::expected<void, DirectiveProblem> DirectiveReader::read_require(TuneDirectives& out) {
  if (at_end()) return refuse("expected an expression after //@ require");
  auto expression = expression_between(at_, line_.text.size());
  if (!expression) return tl::make_unexpected(expression.error());
  out.required.push_back(std::move(*expression));
  return {};
}

}  // namespace accelopt::model
