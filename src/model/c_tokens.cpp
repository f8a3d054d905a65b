// SPDX-License-Identifier: Apache-2.0
#include "model/c_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace accelopt::model {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// Longest first, so that the first match is the longest.
constexpr std::array<std::string_view, 26> kPunctuators{"<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--",
                                                        "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
                                                        "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##"};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : rest_(source) {}

  std::vector<std::string> run() {
    bool line_start = true;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '\n') {
        line_start = true;
        rest_.remove_prefix(1);
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        rest_.remove_prefix(1);
      } else if (rest_.starts_with("\\\n")) {
        rest_.remove_prefix(2);
      } else if (rest_.starts_with("//@")) {
        tokens_.push_back(collapsed(take_line()));
      } else if (rest_.starts_with("//")) {
        take_line();
      } else if (rest_.starts_with("/*")) {
        const auto end = rest_.find("*/", 2);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
      } else if (c == '#' && line_start) {
        tokens_.push_back(collapsed(without_comments(take_line())));
      } else {
        line_start = false;
        take_token();
      }
    }
    return std::move(tokens_);
  }

 private:
  /// Up to the end of the line, continuation lines joined; the line end itself stays.
  std::string take_line() {
    std::string line;
    while (!rest_.empty() && rest_.front() != '\n') {
      if (rest_.starts_with("\\\n")) {
        rest_.remove_prefix(2);
        line += ' ';
        continue;
      }
      line += rest_.front();
      rest_.remove_prefix(1);
    }
    return line;
  }

  static std::string without_comments(const std::string& line) {
    std::string kept;
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view here = std::string_view(line).substr(i);
      if (quote == '\0' && here.starts_with("//")) break;
      if (quote == '\0' && here.starts_with("/*")) {
        const auto end = line.find("*/", i + 2);
        if (end == std::string::npos) break;
        kept += ' ';
        i = end + 1;
        continue;
      }
      if (quote != '\0' && line[i] == '\\' && i + 1 < line.size())
        kept += line[i++];
      else if (line[i] == quote)
        quote = '\0';
      else if (quote == '\0' && (line[i] == '"' || line[i] == '\''))
        quote = line[i];
      kept += line[i];
    }
    return kept;
  }

  static std::string collapsed(std::string_view line) {
    std::string text;
    for (const char c : line) {
      const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (!space)
        text += c;
      else if (!text.empty() && text.back() != ' ')
        text += ' ';
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
  }

  void take_token() {
    if (take_raw_string()) return;
    const char c = rest_.front();
    if (c == '"' || c == '\'') return take(quoted_length(c));
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (c == '.' && rest_.size() > 1 && std::isdigit(static_cast<unsigned char>(rest_[1])) != 0)) {
      return take(number_length());
    }
    if (is_word(c)) {
      const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
      return take(static_cast<std::size_t>(end - rest_.begin()));
    }
    for (const std::string_view punctuator : kPunctuators) {
      if (rest_.starts_with(punctuator)) return take(punctuator.size());
    }
    take(1);
  }

  bool take_raw_string() {
    for (const std::string_view prefix : {"R\"", "u8R\"", "uR\"", "UR\"", "LR\""}) {
      if (!rest_.starts_with(prefix)) continue;
      const auto open = rest_.find('(', prefix.size());
      if (open == std::string_view::npos || open - prefix.size() > 16) return false;
      const std::string close = ")" + std::string(rest_.substr(prefix.size(), open - prefix.size())) + "\"";
      const auto end = rest_.find(close, open);
      take(end == std::string_view::npos ? rest_.size() : end + close.size());
      return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t quoted_length(char quote) const {
    std::size_t i = 1;
    while (i < rest_.size() && rest_[i] != quote && rest_[i] != '\n') i += rest_[i] == '\\' ? 2 : 1;
    return std::min(rest_.size(), i < rest_.size() && rest_[i] == '\n' ? i : i + 1);
  }

  /// A preprocessing number: digits, letters, points, digit separators, and signs after an exponent.
  [[nodiscard]] std::size_t number_length() const {
    std::size_t i = 1;
    while (i < rest_.size()) {
      const char c = rest_[i];
      const char before = rest_[i - 1];
      const bool exponent_sign =
          (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && i + 1 < rest_.size() && is_word(rest_[i + 1]);
      if (!is_word(c) && c != '.' && !exponent_sign && !separator) break;
      ++i;
    }
    return i;
  }

  void take(std::size_t length) {
    tokens_.emplace_back(rest_.substr(0, length));
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  std::vector<std::string> tokens_;
};

}  // namespace

std::vector<std::string> canonical_tokens(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace accelopt::model
