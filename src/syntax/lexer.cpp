// SPDX-License-Identifier: Apache-2.0
#include "syntax/lexer.hpp"

#include <array>
#include <cctype>

namespace accelopt::syntax {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      line_start_ = true;
      ++at_;
    } else if (is_space(c)) {
      ++at_;
    } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
      at_ += 2;
    } else if (c == '/' && peek(1) == '/') {
      line_comment();
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
    } else if (c == '#' && line_start_) {
      preprocessor_line();
    } else {
      line_start_ = false;
      token();
    }
  }

  void line_comment() {
    std::size_t end = source_.find('\n', at_);
    if (end == std::string_view::npos) end = source_.size();
    if (source_.substr(at_).starts_with("//@")) {
      Token result{TokenKind::directive, "", at_};
      bool space = false;
      for (const char c : source_.substr(at_, end - at_)) append_spaced(result.text, c, space);
      tokens_.push_back(std::move(result));
    }
    at_ = end;
  }

  static void append_spaced(std::string& text, char c, bool& space) {
    if (is_space(c)) {
      space = !text.empty();
      return;
    }
    if (space) text += ' ';
    space = false;
    text += c;
  }

  void preprocessor_line() {
    Token result{TokenKind::preprocessor, "", at_};
    bool space = false;
    while (at_ < source_.size() && peek() != '\n') {
      if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
        append_spaced(result.text, ' ', space);
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < source_.size() && peek() != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        const std::size_t end = source_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? source_.size() : end + 2;
        append_spaced(result.text, ' ', space);
      } else {
        append_spaced(result.text, peek(), space);
        ++at_;
      }
    }
    tokens_.push_back(std::move(result));
  }

  void push(TokenKind kind, std::size_t begin) {
    tokens_.push_back(Token{kind, std::string(source_.substr(begin, at_ - begin)), begin});
  }

  void token() {
    const std::size_t begin = at_;
    const char c = peek();
    if (is_name_start(c)) {
      while (is_name_part(peek())) ++at_;
      const std::string_view name = source_.substr(begin, at_ - begin);
      if (peek() == '"' && !name.empty() && name.back() == 'R' && name.size() <= 3) return raw_string(begin);
      if ((peek() == '"' || peek() == '\'') && (name == "u8" || name == "u" || name == "U" || name == "L"))
        return quoted(begin);
      return push(TokenKind::identifier, begin);
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(begin);
    if (c == '"' || c == '\'') return quoted(begin);
    punctuator(begin);
  }

  void number(std::size_t begin) {
    while (at_ < source_.size()) {
      const char c = peek();
      const char previous = at_ > begin ? source_[at_ - 1] : '\0';
      const bool sign =
          (c == '+' || c == '-') && (previous == 'e' || previous == 'E' || previous == 'p' || previous == 'P');
      const bool separator = c == '\'' && is_name_part(peek(1));
      if (!is_name_part(c) && c != '.' && !sign && !separator) break;
      ++at_;
    }
    push(TokenKind::number, begin);
  }

  void quoted(std::size_t begin) {
    const char quote = peek();
    ++at_;
    while (at_ < source_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, source_.size());
    push(quote == '"' ? TokenKind::string : TokenKind::character, begin);
  }

  void raw_string(std::size_t begin) {
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = source_.size();
    } else {
      const std::string close = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
      const std::size_t end = source_.find(close, open);
      at_ = end == std::string_view::npos ? source_.size() : end + close.size();
    }
    push(TokenKind::string, begin);
  }

  void punctuator(std::size_t begin) {
    static constexpr std::array<std::string_view, 26> kLong = {
        "<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
        "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};
    for (const std::string_view candidate : kLong) {
      if (source_.substr(at_).starts_with(candidate)) {
        at_ += candidate.size();
        return push(TokenKind::punctuator, begin);
      }
    }
    ++at_;
    push(TokenKind::punctuator, begin);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

std::size_t skip_blank(std::string_view source, std::size_t at) {
  while (at < source.size()) {
    if (is_space(source[at])) {
      ++at;
    } else if (source.substr(at).starts_with("//")) {
      at = std::min(source.find('\n', at), source.size());
    } else if (source.substr(at).starts_with("/*")) {
      const std::size_t end = source.find("*/", at);
      at = end == std::string_view::npos ? source.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace

std::vector<Token> tokens(std::string_view source) {
  return Lexer(source).run();
}

std::vector<Include> includes_of(std::string_view source) {
  std::vector<Include> result;
  for (const Token& token : tokens(source)) {
    if (token.kind != TokenKind::preprocessor) continue;
    const std::size_t word = token.text.find("include");
    if (word == std::string::npos || token.text.find_first_not_of("# ") != word) continue;
    const std::size_t begin = token.text.find_first_of("<\"", word);
    if (begin == std::string::npos) continue;
    const std::size_t end = token.text.find(token.text[begin] == '<' ? '>' : '"', begin + 1);
    if (end == std::string::npos) continue;
    const std::size_t line_end = std::min(source.find('\n', token.offset), source.size());
    result.push_back({token.text.substr(begin, end - begin + 1), {token.offset, line_end}});
  }
  return result;
}

std::size_t end_of_name(std::string_view source, std::size_t offset) {
  std::size_t at = offset;
  while (at < source.size() && (is_name_part(source[at]) || source[at] == '.')) ++at;
  const std::size_t open = skip_blank(source, at);
  if (at == offset || !is_name_start(source[offset]) || open >= source.size() || source[open] != '(') return at;
  int depth = 0;
  for (std::size_t i = open; i < source.size(); ++i) {
    if (source[i] == '(') ++depth;
    if (source[i] == ')' && --depth == 0) return i + 1;
  }
  return at;
}

std::size_t past_semicolon(std::string_view source, std::size_t offset) {
  const std::size_t at = skip_blank(source, offset);
  return at < source.size() && source[at] == ';' ? at + 1 : offset;
}

}  // namespace accelopt::syntax
