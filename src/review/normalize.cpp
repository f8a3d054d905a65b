// SPDX-License-Identifier: Apache-2.0
#include "review/normalize.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "base/unified_diff.hpp"
#include "refactor/tokens.hpp"

namespace accelopt::review {
namespace {

using refactor::CodeLanguage;
using refactor::Token;
using refactor::TokenKind;

/// Marks that are one operator where they stand side by side, longest first.
constexpr auto kOperators = std::to_array<std::string_view>(
    {">>>=", "===", "!==", "**=", "//=", "<<=", ">>=", "...", "&&=", "||=", "\?\?=", ">>>", "==",
     "!=",   "<=",  ">=",  "+=",  "-=",  "*=",  "/=",  "%=",  "&=",  "|=",  "^=",    "&&",  "||",
     "++",   "--",  "<<",  ">>",  "**",  "//",  "->",  "=>",  "::",  ":=",  "\?\?",  "?."});

bool is_word_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// The operator that a text begins with; else its first byte.
std::string_view operator_at(std::string_view text) {
  for (const std::string_view one : kOperators) {
    if (text.starts_with(one)) return text.substr(0, one.size());
  }
  return text.substr(0, 1);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether a blank stands between two tokens.
bool apart(std::string_view left, std::string_view right) {
  if (left.empty()) return false;
  if (is_one_of(left, {"(", "[", ".", "::", "!", "~", "?.", "@"})) return false;
  if (is_one_of(right, {")", "]", ",", ";", ":", ".", "::", "?."})) return false;
  if (is_one_of(right, {"(", "["})) {
    const bool ends_operand = is_word_byte(left.back()) || left == ")" || left == "]" || left.back() == '"';
    return !ends_operand || is_one_of(left, {"if", "for", "while", "switch", "return", "in", "and", "or", "not", "is",
                                             "elif", "else", "assert", "yield", "case", "catch"});
  }
  if (is_one_of(right, {"++", "--"}) && is_word_byte(left.back())) return false;
  if (is_one_of(left, {"++", "--"}) && is_word_byte(right.front())) return false;
  return true;
}

/// Collects lines of tokens.
class Lines {
 public:
  void add(std::string_view token) {
    if (apart(last_, token)) line_ += ' ';
    line_ += token;
    last_ = token;
  }
  void end(std::size_t level) {
    if (!line_.empty()) text_ += std::string(4 * level, ' ') + line_ + '\n';
    line_.clear();
    last_ = {};
  }
  [[nodiscard]] bool empty() const { return line_.empty(); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string line_;
  std::string_view last_;
};

/// Past the end of the string that begins at `at`, with its prefix before it.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view rest = text.substr(at);
  const std::string three(3, quote);
  const bool is_long = rest.starts_with(three);
  std::size_t end = at + (is_long ? 3 : 1);
  while (end < text.size()) {
    if (text[end] == '\\') {
      end += 2;
      continue;
    }
    if (!is_long && text[end] == '\n') return end;
    if (is_long ? text.substr(end).starts_with(three) : text[end] == quote) return end + (is_long ? 3 : 1);
    ++end;
  }
  return text.size();
}

/// The tokens of one logical line, up to its end. `at` moves past it.
std::vector<std::string_view> logical_line(std::string_view text, std::size_t& at) {
  std::vector<std::string_view> tokens;
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      ++at;
      if (depth == 0) break;
    } else if (c == '\\' && at + 1 < text.size() && text[at + 1] == '\n') {
      at += 2;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at;
    } else if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, at);
      tokens.push_back(text.substr(at, end - at));
      at = end;
    } else if (is_word_byte(c)) {
      std::size_t end = at;
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (end < text.size() && (is_word_byte(text[end]) || (number && text[end] == '.'))) ++end;
      // A prefix belongs to its string.
      if (end < text.size() && (text[end] == '"' || text[end] == '\'') && end - at <= 2) end = end_of_string(text, end);
      tokens.push_back(text.substr(at, end - at));
      at = end;
    } else {
      const std::string_view mark = operator_at(text.substr(at));
      if (is_one_of(mark, {"(", "[", "{"})) ++depth;
      if (is_one_of(mark, {")", "]", "}"})) depth = std::max(0, depth - 1);
      tokens.push_back(mark);
      at += mark.size();
    }
  }
  return tokens;
}

bool is_string(std::string_view token) {
  return token.back() == '"' || token.back() == '\'';
}

std::string by_indentation(std::string_view source) {
  Lines lines;
  std::vector<std::size_t> indents{0};
  std::size_t documented = 0;  // indent of a block that holds nothing yet but its documentation; 0: none
  bool opens = false;          // the last line opens a block
  for (std::size_t at = 0; at < source.size();) {
    std::size_t indent = 0;
    while (at < source.size() && (source[at] == ' ' || source[at] == '\t')) {
      indent = source[at] == '\t' ? (indent / 8 + 1) * 8 : indent + 1;
      ++at;
    }
    const auto tokens = logical_line(source, at);
    const bool documents = !tokens.empty() && std::ranges::all_of(tokens, is_string);
    if (documents && opens) documented = indent;
    if (tokens.empty() || documents) continue;
    if (indent < documented) {
      lines.add("pass");
      lines.end(indents.size());
    }
    documented = 0;
    opens = tokens.back() == ":";
    while (indents.back() > indent) indents.pop_back();
    if (indents.back() < indent) indents.push_back(indent);
    for (const std::string_view token : tokens) lines.add(token);
    lines.end(indents.size() - 1);
  }
  return lines.take();
}

std::string by_braces(const CodeLanguage& language, std::string_view source) {
  const auto tokens = refactor::tokens_of(language, source);
  Lines lines;
  std::vector<int> brackets{0};    // open ( and [ in each block
  std::vector<bool> loops{false};  // whether each block is that of a do, whose while goes on its line
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::size_t level = brackets.size() - 1;
    if (token.kind == TokenKind::directive) {
      lines.end(level);
      lines.add(base::trimmed(token.text));
      lines.end(0);
      continue;
    }
    std::string_view text = token.text;
    if (token.kind == TokenKind::mark) {
      // Operators of several marks come one by one.
      std::string_view whole = operator_at(source.substr(static_cast<std::size_t>(text.data() - source.data())));
      while (text.size() < whole.size() && i + 1 < tokens.size() &&
             tokens[i + 1].text.data() == text.data() + text.size() && tokens[i + 1].kind == TokenKind::mark) {
        text = {text.data(), text.size() + tokens[i + 1].text.size()};
        ++i;
      }
    }
    if (text == "}") {
      lines.end(level);
      const bool loop = loops.back();
      if (brackets.size() > 1) {
        brackets.pop_back();
        loops.pop_back();
      }
      lines.add(text);
      const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : std::string_view();
      if (!is_one_of(next, {"else", "catch", "finally", ")", ",", ";", ".", "]"}) && !(loop && next == "while"))
        lines.end(brackets.size() - 1);
      continue;
    }
    lines.add(text);
    if (text == "(" || text == "[") ++brackets.back();
    if (text == ")" || text == "]") brackets.back() = std::max(0, brackets.back() - 1);
    if (text == "{") {
      lines.end(level);
      brackets.push_back(0);
      loops.push_back(i > 0 && tokens[i - 1].text == "do");
    }
    const bool no_semicolons =
        language.braces == refactor::BraceSyntax::go || language.braces == refactor::BraceSyntax::script;
    const bool next_line = i + 1 < tokens.size() && tokens[i + 1].line > token.last_line;
    const bool ends = text == ";" || (no_semicolons && next_line && tokens[i + 1].text != "." && text != "{");
    if (ends && brackets.back() == 0) lines.end(level);
  }
  lines.end(0);
  return lines.take();
}

std::string by_lines(std::string_view source) {
  std::string text;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    while (!line.empty() && base::kBlanks.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
    if (!line.empty()) text += std::string(line) + '\n';
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return text;
}

}  // namespace

std::string normalized(const CodeLanguage& language, std::string_view source) {
  switch (language.form) {
    case refactor::FunctionForm::indentation:
      return by_indentation(source);
    case refactor::FunctionForm::braces:
      return by_braces(language, source);
    case refactor::FunctionForm::none:
      break;
  }
  return by_lines(source);
}

std::string normalized_diff(const std::map<std::string, std::string>& before,
                            const std::map<std::string, std::string>& after) {
  std::string diff;
  for (const auto& [path, text] : after) {
    const auto old = before.find(path);
    diff += base::unified_diff(old == before.end() ? "" : old->second, text, "old/" + path, "new/" + path);
  }
  return diff;
}

int changed_lines(std::string_view diff) {
  int lines = 0;
  while (!diff.empty()) {
    const std::string_view line = base::first_line(diff);
    const bool header = line.starts_with("+++ ") || line.starts_with("--- ");
    if (!header && (line.starts_with("+") || line.starts_with("-"))) ++lines;
    diff.remove_prefix(std::min(line.size() + 1, diff.size()));
  }
  return lines;
}

}  // namespace accelopt::review
