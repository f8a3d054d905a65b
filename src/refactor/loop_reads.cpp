// SPDX-License-Identifier: Apache-2.0
#include "refactor/loop_reads.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "refactor/tokens.hpp"

namespace accelopt::refactor {
namespace {

/// Functions that neither write to their strings nor give a pointer into them.
constexpr auto kReaders =
    std::to_array<std::string_view>({"strlen", "strnlen", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcoll",
                                     "memcmp", "strspn", "strcspn", "atoi", "atol", "atof", "puts", "fputs", "sizeof"});

class LoopReader {
 public:
  LoopReader(const CodeLanguage& language, std::string_view body) : tokens_(tokens_of(language, body)) {}

  /// The name, and all that may stand for the same string.
  [[nodiscard]] std::set<std::string> names_of(const std::string& name) const {
    std::set<std::string> names = {name};
    for (std::size_t before = 0; before != names.size();) {
      before = names.size();
      for (std::size_t at = 1; at < tokens_.size(); ++at) {
        if (assigns(at) && is_word(at - 1)) add_assigned(at, names);
      }
    }
    return names;
  }

  /// Past the statement that begins here.
  [[nodiscard]] std::size_t past_statement(std::size_t at) const {
    const std::string_view word = text(at);
    if (word == "{") return past_bracket(at);
    if (word == "for" || word == "while" || word == "if" || word == "switch") {
      at = past_statement(past_bracket(at + 1));
      return word == "if" && text(at) == "else" ? past_statement(at + 1) : at;
    }
    if (word == "do") at = past_statement(at + 1);
    while (at < tokens_.size() && text(at) != ";") at = past_bracket(at);
    return at + 1;
  }

  [[nodiscard]] std::size_t first_behind(const char* place) const {
    return static_cast<std::size_t>(
        std::ranges::find_if(tokens_, [&](const Token& token) { return token.text.data() >= place; }) -
        tokens_.begin());
  }

  [[nodiscard]] bool only_reads(std::size_t first, std::size_t last, const std::set<std::string>& names) const {
    for (std::size_t at = first; at < std::min(last, tokens_.size()); ++at) {
      if (tokens_[at].kind == TokenKind::directive) return false;
      if (names.contains(name_at(at)) && !reads(at)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t at) const { return at < tokens_.size() ? tokens_[at].text : ""; }
  [[nodiscard]] bool is_word(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == TokenKind::word;
  }
  /// The name that stands here, a member's with a point before it; empty: none does.
  [[nodiscard]] std::string name_at(std::size_t at) const {
    if (!is_word(at) || (text(at).front() >= '0' && text(at).front() <= '9')) return "";
    const bool member = at > 0 && (text(at - 1) == "." || text(at - 1) == "->");
    return (member ? "." : "") + std::string(text(at));
  }
  [[nodiscard]] bool ends_operand(std::size_t at) const {
    return (is_word(at) && text(at) != "return") || text(at) == ")" || text(at) == "]" ||
           (at < tokens_.size() && tokens_[at].kind == TokenKind::literal);
  }

  /// "=", and neither "==" nor part of "<=".
  [[nodiscard]] bool assigns(std::size_t at) const {
    constexpr auto kCompare = std::to_array<std::string_view>({"=", "!", "<", ">"});
    return text(at) == "=" && text(at + 1) != "=" && std::ranges::find(kCompare, text(at - 1)) == kCompare.end();
  }

  /// Past the bracket that opens here, with what it holds, or past the token.
  [[nodiscard]] std::size_t past_bracket(std::size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      const std::string_view here = text(at);
      if (here == "(" || here == "[" || here == "{") ++depth;
      if (here == ")" || here == "]" || here == "}") --depth;
      if (depth <= 0) return at + 1;
    }
    return at;
  }

  /// The bracket that this token stands in; the first token: none.
  [[nodiscard]] std::size_t bracket_around(std::size_t at) const {
    int depth = 0;
    while (at > 0) {
      const std::string_view here = text(--at);
      if (here == ")" || here == "]" || here == "}") ++depth;
      if (here == "(" || here == "[" || here == "{") --depth;
      if (depth < 0) return at;
    }
    return 0;
  }

  [[nodiscard]] bool is_in_a_reader(std::size_t at) const {
    const std::size_t open = bracket_around(at);
    return open > 0 && text(open) == "(" && std::ranges::find(kReaders, text(open - 1)) != kReaders.end();
  }

  /// Both sides of the assignment stand for the string, where one does.
  void add_assigned(std::size_t equals, std::set<std::string>& names) const {
    const std::string target = name_at(equals - 1);
    const bool is_reference = text(equals - 2) == "&";
    std::vector<std::string> given;
    for (std::size_t at = equals + 1; at < tokens_.size() && text(at) != ";" && text(at) != "{"; ++at) {
      const bool element = text(at + 1) == "[" && !is_reference && text(at - 1) != "&";
      const std::string name = name_at(at);
      if (!name.empty() && !is_in_a_reader(at) && (!element || names.contains(target))) given.push_back(name);
      // What an index is, is no string.
      if (text(at) == "[") at = past_bracket(at) - 1;
    }
    const auto is_known = [&](const std::string& word) { return names.contains(word); };
    if (std::ranges::any_of(given, is_known)) names.insert(target);
    if (names.contains(target)) names.insert(given.begin(), given.end());
  }

  [[nodiscard]] bool reads(std::size_t at) const {
    if (text(at + 1) == "[") return reads_element(at);
    return is_in_a_reader(at) && (text(at + 1) == ")" || text(at + 1) == ",") &&
           (text(at - 1) == "(" || text(at - 1) == ",");
  }

  [[nodiscard]] bool reads_element(std::size_t at) const {
    const std::size_t next = past_bracket(at + 1);
    if (text(next) == "[" || text(next) == "." || text(next) == "->") return false;
    const bool steps = (text(next) == "+" || text(next) == "-") && text(next + 1) == text(next);
    const bool stepped = at > 1 && (text(at - 1) == "+" || text(at - 1) == "-") && text(at - 2) == text(at - 1);
    if (steps || stepped) return false;
    // "=", "+=", "<<=": marks from the element on, up to an equals sign that compares nothing.
    std::size_t mark = next;
    constexpr auto kOperators = std::to_array<std::string_view>({"+", "-", "*", "/", "%", "&", "|", "^", "<", ">"});
    while (std::ranges::find(kOperators, text(mark)) != kOperators.end()) ++mark;
    const bool shifts = mark == next + 2 && (text(next) == "<" || text(next) == ">");
    const bool compares = mark == next + 1 && (text(next) == "<" || text(next) == ">");
    if (text(mark) == "=" && text(mark + 1) != "=" && (mark == next || shifts || !compares)) return false;
    // Its address: "&" that is neither "and" nor between two operands.
    std::size_t marks = 0;
    while (marks < at && text(at - 1 - marks) == "&") ++marks;
    const bool between = at > marks && ends_operand(at - 1 - marks);
    return marks == 0 || (marks < 3 && between) || (marks == 2);
  }

  std::vector<Token> tokens_;
};

}  // namespace

bool only_reads_text(const CodeLanguage& language, std::string_view body, std::size_t offset, const std::string& name) {
  const LoopReader reader(language, body);
  const std::size_t first = reader.first_behind(body.data() + offset);
  return reader.only_reads(first, reader.past_statement(first), reader.names_of(name));
}

}  // namespace accelopt::refactor
