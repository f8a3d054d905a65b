// SPDX-License-Identifier: Apache-2.0
#include "memory/pseudo_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

#include "model/c_tokens.hpp"

namespace accelopt::memory {
namespace {

using model::Token;
using model::TokenKind;

/// Names of one text, each with what it becomes.
class Roles {
 public:
  /// The first role that a name is given is its role.
  void give(std::string_view name, const std::string& role) {
    if (names_.contains(name)) return;
    names_.emplace(name, role + std::to_string(count_[role]++));
  }
  [[nodiscard]] bool known(std::string_view name) const { return names_.contains(name); }
  [[nodiscard]] std::string of(std::string_view word) const {
    const auto found = names_.find(word);
    return found == names_.end() ? std::string(word) : found->second;
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;
  std::map<std::string, int> count_;
};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, text) != list.end();
}

/// Words behind which a name stands without being declared.
bool precedes_a_use(std::string_view word) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"return", "goto",    "case",   "else",     "do",      "new",      "delete",   "sizeof", "throw",  "and",
       "or",     "not",     "switch", "co_yield", "while",   "co_await", "if",       "for",    "using",  "namespace",
       "asm",    "alignof", "break",  "typeof",   "default", "xor",      "operator", "goto",   "extern", "co_return"});
  return is_one_of(word, kWords);
}

/// Words of the language, which nobody declares.
bool is_keyword(std::string_view word) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"alignas",  "asm",      "auto",     "bool",     "char",     "class",    "const",    "constexpr",
       "double",   "enum",     "extern",   "float",    "inline",   "int",      "long",     "mutable",
       "noexcept", "register", "short",    "signed",   "static",   "struct",   "template", "typedef",
       "typename", "union",    "unsigned", "void",     "volatile", "restrict", "true",     "false",
       "nullptr",  "NULL",     "this",     "operator", "while",    "if",       "for",      "switch"});
  return word.starts_with("__") || is_one_of(word, kWords) || precedes_a_use(word);
}

/// Whether a `*` behind this word makes a pointer and no product.
bool names_a_type(std::string_view word) {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"auto", "bool", "char", "const", "double", "float", "int", "long", "short",
                                       "signed", "unsigned", "void", "volatile", "half", "__half"});
  return word.ends_with("_t") || is_one_of(word, kTypes);
}

/// Goes through one source and gives roles to what it declares: by the look of its tokens, which a source that does not
/// compile has as well.
class Declarations {
 public:
  Declarations(const std::vector<Token>& tokens, Roles& roles) : tokens_(tokens), roles_(roles) {}

  void read() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.kind == TokenKind::preprocessor || token.kind == TokenKind::directive)
        read_line(token.text);
      else if (token.kind == TokenKind::identifier)
        read_name(token.text);
      else
        read_mark(token.text);
    }
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t at) const {
    return at < tokens_.size() ? std::string_view(tokens_[at].text) : std::string_view();
  }
  [[nodiscard]] std::string_view before(std::size_t steps) const {
    return at_ >= steps ? text(at_ - steps) : std::string_view();
  }
  [[nodiscard]] bool is_name(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == TokenKind::identifier;
  }

  /// "#define NAME", "//@ tune NAME in {...}".
  void read_line(std::string_view line) {
    for (const std::string_view begin : {"#define ", "# define ", "//@ tune ", "// @ tune "}) {
      if (!line.starts_with(begin)) continue;
      const std::string_view rest = line.substr(begin.size());
      roles_.give(rest.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_letter) - rest.begin())),
                  "c");
    }
  }

  void read_mark(std::string_view mark) {
    depth_ += mark == "(" || mark == "[" || mark == "{" ? 1 : mark == ")" || mark == "]" || mark == "}" ? -1 : 0;
    if (mark == "(" && before(1) == "for") loop_depth_ = depth_;
    if (mark == ";" || mark == "}" || mark == "{" || depth_ < declaring_depth_) declaring_depth_ = kNowhere;
    if (mark == ";" || depth_ < loop_depth_) loop_depth_ = kNowhere;
    if (mark == "{" && in_enum_) enum_depth_ = depth_;
    if (mark == "}" || mark == ";") in_enum_ = false;
    if (depth_ < enum_depth_) enum_depth_ = kNowhere;
  }

  void read_name(std::string_view name) {
    if (name == "enum") in_enum_ = true;
    if (is_keyword(name)) return;
    if (is_enumerator()) {
      roles_.give(name, "c");
    } else if (const std::string_view last = before(1); last == "struct" || last == "class" || last == "union" ||
                                                        last == "enum" || (last == "using" && text(at_ + 1) == "=")) {
      roles_.give(name, "t");
    } else if (is_declared()) {
      declare(name);
    }
  }

  [[nodiscard]] bool is_enumerator() const {
    const std::string_view next = text(at_ + 1);
    return depth_ == enum_depth_ && (before(1) == "{" || before(1) == ",") &&
           (next == "=" || next == "," || next == "}");
  }

  /// "TYPE name", "TYPE* name", and ", name" in a declaration of several.
  [[nodiscard]] bool is_declared() const {
    static constexpr auto kNext =
        std::to_array<std::string_view>({"=", ";", ",", ")", "[", "(", ":", "{", "__attribute__"});
    if (at_ == 0 || !is_one_of(text(at_ + 1), kNext)) return false;
    if (is_name(at_ - 1)) return !precedes_a_use(before(1));
    std::size_t steps = 1;
    while (before(steps) == "*" || before(steps) == "&") ++steps;
    const bool pointed = steps > 1;
    if (before(steps) == "," && depth_ == declaring_depth_) return text(at_ + 1) != "(";
    return pointed && (names_a_type(before(steps)) || roles_.of(before(steps)).starts_with("t"));
  }

  void declare(std::string_view name) {
    declaring_depth_ = depth_;
    const std::string_view next = text(at_ + 1);
    const bool is_type = std::ranges::any_of(std::array<std::size_t, 3>{2, 3, 4},
                                             [&](std::size_t steps) { return before(steps) == "typedef"; });
    // The entry has the same name in every kernel.
    if (next == "(" && name == "kernel") return;
    roles_.give(name, is_type                       ? "t"
                      : loop_depth_ == depth_       ? "i"
                      : next == "("                 ? "f"
                      : next == "[" || is_pointed() ? "p"
                                                    : "x");
  }

  /// "float* name", "float* __restrict name"
  [[nodiscard]] bool is_pointed() const {
    const bool qualified = is_name(at_ - 1) && is_keyword(before(1));
    return before(qualified ? 2 : 1) == "*";
  }

  static constexpr int kNowhere = 1 << 20;
  const std::vector<Token>& tokens_;
  Roles& roles_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int declaring_depth_ = kNowhere;  ///< of the declaration whose further names may follow
  int loop_depth_ = kNowhere;       ///< of the first part of a loop's head
  int enum_depth_ = kNowhere;
  bool in_enum_ = false;
};

}  // namespace

std::string without_names(std::string_view text, const model::Definition& definition,
                          std::span<const std::string> sources) {
  Roles roles;
  for (const auto& it : definition.inputs) roles.give(it.name, "in");
  for (const auto& it : definition.outputs) roles.give(it.name, "out");
  for (const auto& it : definition.axes) roles.give(it.name, "n");
  for (const std::string& source : sources) {
    const std::vector<Token> tokens = model::c_tokens(source);
    Declarations(tokens, roles).read();
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    out += roles.of(text.substr(at, end - at));
    at = end;
  }
  return out;
}

}  // namespace accelopt::memory
