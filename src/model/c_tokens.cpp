// SPDX-License-Identifier: Apache-2.0
#include "model/c_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace accelopt::model {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_decimal(char c) {
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
    } else if (splice() > 0) {
      at_ += splice();
    } else if (c == '/' && peek(1) == '/') {
      line_comment();
    } else if (c == '/' && peek(1) == '*') {
      block_comment();
    } else if (c == '#' && line_start_) {
      preprocessor_line();
    } else {
      line_start_ = false;
      token();
    }
  }

  /// Length of a backslash and the line end that follows it; 0 where there is none.
  [[nodiscard]] std::size_t splice() const {
    if (peek() != '\\') return 0;
    return peek(1) == '\n' ? 2 : peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }

  /// To the line's end, continuation lines joined.
  void line_comment() {
    const bool is_directive = source_.substr(at_).starts_with("//@");
    Token result{TokenKind::directive, "", at_, at_};
    bool space = false;
    while (at_ < source_.size() && peek() != '\n') {
      const std::size_t joined = splice();
      append_spaced(result.text, joined > 0 ? ' ' : peek(), space);
      at_ += std::max<std::size_t>(joined, 1);
    }
    result.end = at_;
    if (is_directive) tokens_.push_back(std::move(result));
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
    Token result{TokenKind::preprocessor, "", at_, at_};
    bool space = false;
    char quote = '\0';
    while (at_ < source_.size() && peek() != '\n') {
      const bool in_code = quote == '\0';
      if (const std::size_t joined = splice(); joined > 0) {
        at_ += joined;
        append_spaced(result.text, ' ', space);
      } else if (in_code && peek() == '/' && peek(1) == '/') {
        break;
      } else if (in_code && peek() == '/' && peek(1) == '*') {
        block_comment();
        append_spaced(result.text, ' ', space);
      } else {
        if (!in_code && peek() == '\\')
          append_spaced(result.text, source_[at_++], space);
        else if (peek() == quote)
          quote = '\0';
        else if (in_code && (peek() == '"' || peek() == '\''))
          quote = peek();
        if (at_ < source_.size()) append_spaced(result.text, source_[at_++], space);
      }
    }
    const std::size_t line = tokens_.size();
    tokens_.push_back(std::move(result));
    if (peek() == '/') line_comment();
    tokens_[line].end = at_;
  }

  void block_comment() {
    const std::size_t end = source_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? source_.size() : end + 2;
  }

  void push(TokenKind kind, std::size_t begin) {
    tokens_.push_back(Token{kind, std::string(source_.substr(begin, at_ - begin)), begin, at_});
  }

  void token() {
    const std::size_t begin = at_;
    const char c = peek();
    if (is_name_start(c)) {
      while (is_name_part(peek())) ++at_;
      const std::string_view name = source_.substr(begin, at_ - begin);
      const bool raw = name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
      if (peek() == '"' && raw) return raw_string(begin);
      if ((peek() == '"' || peek() == '\'') && (name == "u8" || name == "u" || name == "U" || name == "L"))
        return quoted(begin);
      return push(TokenKind::identifier, begin);
    }
    if (is_decimal(c) || (c == '.' && is_decimal(peek(1)))) return number(begin);
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
    if (peek() == quote) ++at_;
    at_ = std::min(at_, source_.size());
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

}  // namespace

std::vector<Token> c_tokens(std::string_view source) {
  return Lexer(source).run();
}

std::vector<std::string> canonical_tokens(std::string_view source) {
  std::vector<std::string> texts;
  for (Token& token : c_tokens(source)) texts.push_back(std::move(token.text));
  return texts;
}

}  // namespace accelopt::model
