// SPDX-License-Identifier: Apache-2.0
#include "refactor/tokens.hpp"

#include <algorithm>
#include <array>

namespace accelopt::refactor {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// After these words a '/' begins a regular expression.
constexpr auto kBeforeExpression =
    std::to_array<std::string_view>({"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else",
                                     "do", "instanceof", "yield", "await"});

class Lexer {
 public:
  Lexer(BraceSyntax syntax, std::string_view source) : syntax_(syntax), source_(source) {}

  std::vector<Token> read() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        begins_line_ = begins_line_ || c == '\n';
        ++at_;
      } else if (!skip_comment()) {
        read_token();
        begins_line_ = false;
      }
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return source_.substr(at_); }
  [[nodiscard]] bool is_c() const { return syntax_ == BraceSyntax::c; }
  [[nodiscard]] bool is_script() const { return syntax_ == BraceSyntax::script; }

  bool skip_comment() {
    if (rest().starts_with("//") || (is_script() && at_ == 0 && rest().starts_with("#!"))) {
      at_ = end_of_line(at_);
      return true;
    }
    if (!rest().starts_with("/*")) return false;
    int depth = 0;
    do {
      if (rest().starts_with("/*") && (depth == 0 || syntax_ == BraceSyntax::rust)) {
        ++depth;
        at_ += 2;
      } else if (rest().starts_with("*/")) {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0 && at_ < source_.size());
    return true;
  }

  /// In C a backslash at its end continues a line, be it a comment or a directive.
  [[nodiscard]] std::size_t end_of_line(std::size_t at) const {
    while (true) {
      const std::size_t end = std::min(source_.find('\n', at), source_.size());
      if (!is_c() || end == source_.size()) return end;
      std::size_t last = end;
      while (last > at && (source_[last - 1] == '\r' || source_[last - 1] == ' ')) --last;
      if (last == at || source_[last - 1] != '\\') return end;
      at = end + 1;
    }
  }

  void read_token() {
    const char c = source_[at_];
    if (is_c() && begins_line_ && (c == '#' || rest().starts_with("%:")))
      return take(TokenKind::directive, end_of_line(at_));
    if (const std::size_t end = end_of_literal(); end != at_) return take(TokenKind::literal, end);
    if (is_word(c) || (is_script() && c == '#')) {
      std::size_t end = at_ + 1;
      // 1'000 is one number in C++.
      while (end < source_.size() && (is_word(source_[end]) || (is_c() && is_digit(c) && source_[end] == '\'' &&
                                                                end + 1 < source_.size() && is_word(source_[end + 1]))))
        ++end;
      return take(TokenKind::word, end);
    }
    for (const std::string_view mark : {"=>", "->", "::"}) {
      if (rest().starts_with(mark)) return take(TokenKind::mark, at_ + mark.size());
    }
    take(TokenKind::mark, at_ + 1);
  }

  void take(TokenKind kind, std::size_t end) {
    end = std::min(end, source_.size());
    const auto lines_to = [&](std::size_t place) {
      line_ += static_cast<std::size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                   source_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
      counted_ = place;
      return line_;
    };
    Token token{kind, source_.substr(at_, end - at_), lines_to(at_), 0};
    token.last_line = lines_to(end);
    tokens_.push_back(token);
    at_ = end;
  }

  /// Past the literal that begins here; here: none does.
  [[nodiscard]] std::size_t end_of_literal() const {
    const char c = source_[at_];
    if (c == '"') return end_of_quoted(at_, '"');
    if (c == '`' && syntax_ == BraceSyntax::go) return past(source_.find('`', at_ + 1), 1);
    if (c == '`' && is_script()) return end_of_template(at_);
    if (c == '\'') return syntax_ == BraceSyntax::rust ? end_of_rust_character() : end_of_quoted(at_, '\'');
    if (c == '/' && is_script() && expects_expression()) return end_of_pattern();
    if (is_c() || syntax_ == BraceSyntax::rust) return end_of_raw();
    return at_;
  }

  [[nodiscard]] std::size_t past(std::size_t found, std::size_t length) const {
    return found == std::string_view::npos ? source_.size() : found + length;
  }

  /// A string of one quote ends with its line, but for Rust's.
  [[nodiscard]] std::size_t end_of_quoted(std::size_t at, char quote) const {
    for (std::size_t i = at + 1; i < source_.size(); ++i) {
      if (source_[i] == '\\')
        ++i;
      else if (source_[i] == quote)
        return i + 1;
      else if (source_[i] == '\n' && syntax_ != BraceSyntax::rust)
        return i;
    }
    return source_.size();
  }

  /// 'x' or '\n'; a lifetime is a mark and a word.
  [[nodiscard]] std::size_t end_of_rust_character() const {
    if (at_ + 1 < source_.size() && source_[at_ + 1] == '\\') return end_of_quoted(at_, '\'');
    constexpr std::size_t kMostBytes = 4;  // of a character in UTF-8
    const std::size_t end = source_.find('\'', at_ + 1);
    if (end == source_.npos || end - at_ - 1 > kMostBytes || end == at_ + 1) return at_;
    const bool one = end == at_ + 2 || static_cast<unsigned char>(source_[at_ + 1]) >= 0x80;
    return one ? end + 1 : at_;
  }

  /// R"x(...)x" of C++, r#"..."# of Rust, with their prefixes.
  [[nodiscard]] std::size_t end_of_raw() const {
    std::size_t quote = at_;
    while (quote < source_.size() && quote < at_ + 3 && is_word(source_[quote])) ++quote;
    if (quote == at_ || quote >= source_.size()) return at_;
    const char prefix = source_[quote - 1];
    if (is_c()) {
      if (prefix != 'R' || source_[quote] != '"') return at_;
      const std::size_t open = source_.find('(', quote);
      if (open == source_.npos) return at_;
      const std::string close = ")" + std::string(source_.substr(quote + 1, open - quote - 1)) + "\"";
      return past(source_.find(close, open), close.size());
    }
    std::size_t hashes = quote;
    while (hashes < source_.size() && source_[hashes] == '#') ++hashes;
    if (prefix != 'r' || hashes >= source_.size() || source_[hashes] != '"') return at_;
    const std::string close = "\"" + std::string(hashes - quote, '#');
    return past(source_.find(close, hashes + 1), close.size());
  }

  /// `text ${code} text`, where code may hold templates again.
  [[nodiscard]] std::size_t end_of_template(std::size_t at) const {
    for (std::size_t i = at + 1; i < source_.size(); ++i) {
      if (source_[i] == '\\') {
        ++i;
      } else if (source_[i] == '`') {
        return i + 1;
      } else if (source_.substr(i, 2) == "${") {
        int depth = 1;
        for (i += 2; i < source_.size() && depth > 0; ++i) {
          const char c = source_[i];
          if (c == '"' || c == '\'')
            i = end_of_quoted(i, c) - 1;
          else if (c == '`')
            i = end_of_template(i) - 1;
          else
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        }
        --i;
      }
    }
    return source_.size();
  }

  [[nodiscard]] bool expects_expression() const {
    if (tokens_.empty()) return true;
    const Token& before = tokens_.back();
    if (before.kind == TokenKind::word)
      return std::ranges::find(kBeforeExpression, before.text) != kBeforeExpression.end();
    return before.kind == TokenKind::mark && before.text != ")" && before.text != "]" && before.text != "}";
  }

  [[nodiscard]] std::size_t end_of_pattern() const {
    bool in_class = false;
    for (std::size_t i = at_ + 1; i < source_.size() && source_[i] != '\n'; ++i) {
      if (source_[i] == '\\')
        ++i;
      else if (source_[i] == '[' || source_[i] == ']')
        in_class = source_[i] == '[';
      else if (source_[i] == '/' && !in_class)
        return i + 1;
    }
    return at_;  // it divides
  }

  BraceSyntax syntax_;
  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;  ///< line ends are counted up to here
  std::size_t line_ = 0;
  bool begins_line_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(const CodeLanguage& language, std::string_view source) {
  return Lexer(language.braces, source).read();
}

}  // namespace accelopt::refactor
