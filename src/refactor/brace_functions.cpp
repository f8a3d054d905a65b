// SPDX-License-Identifier: Apache-2.0
#include "refactor/brace_functions.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "refactor/tokens.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// What a method cannot be named: `if (x) {` is none.
constexpr auto kControl = std::to_array<std::string_view>(
    {"if", "for", "while", "switch", "catch", "with", "function", "return", "await", "typeof", "super"});
/// What may stand before a function's keyword or name in JavaScript and TypeScript.
constexpr auto kScriptModifiers =
    std::to_array<std::string_view>({"export", "default", "async", "static", "public", "private", "protected",
                                     "readonly", "override", "get", "set", "const", "let", "var", "abstract", "*"});
constexpr auto kRustModifiers =
    std::to_array<std::string_view>({"pub", "const", "async", "unsafe", "extern", "default"});
/// Words of C and C++ whose brackets are not a function's parameters.
constexpr auto kWithBrackets =
    std::to_array<std::string_view>({"__attribute__", "__attribute", "alignas", "_Alignas", "decltype", "noexcept",
                                     "throw", "requires", "__declspec", "explicit", "asm", "__asm__"});

/// What may stand before a function's type in C and C++.
constexpr auto kStorage =
    std::to_array<std::string_view>({"static", "inline", "extern", "constexpr", "virtual", "friend"});

/// A function by places in the list of tokens.
struct Match {
  std::string name;
  std::size_t head = 0;  ///< first token of its header
  std::size_t open = 0;  ///< its brace
};

struct NamedBlock {
  std::string name;  ///< empty: adds nothing to names
  std::size_t close = 0;
};

class Finder {
 public:
  Finder(BraceSyntax syntax, std::vector<Token> tokens) : syntax_(syntax), tokens_(std::move(tokens)) {
    pair_brackets();
  }

  std::vector<Match> find() {
    if (syntax_ == BraceSyntax::c)
      find_in_c();
    else
      find_by_header();
    return std::move(found_);
  }

  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::size_t partner(std::size_t at) const { return partners_[at]; }

 private:
  [[nodiscard]] std::string_view text(std::size_t at) const { return at < tokens_.size() ? tokens_[at].text : ""; }
  [[nodiscard]] bool is_word(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == TokenKind::word;
  }

  void pair_brackets() {
    partners_.assign(tokens_.size(), kNone);
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind != TokenKind::mark) continue;
      const char c = tokens_[at].text.front();
      if (c == '(' || c == '[' || c == '{') {
        open.push_back(at);
      } else if (c == ')' || c == ']' || c == '}') {
        const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (open.empty() || tokens_[open.back()].text.front() != wanted) continue;
        partners_[open.back()] = at;
        partners_[at] = open.back();
        open.pop_back();
      }
    }
  }

  /// Past the bracket that opens here, or past the token.
  [[nodiscard]] std::size_t past(std::size_t at) const {
    const bool opens = text(at) == "(" || text(at) == "[" || text(at) == "{";
    return opens && partners_[at] != kNone ? partners_[at] + 1 : at + 1;
  }

  /// Past `<...>`, where it begins here.
  [[nodiscard]] std::size_t past_angles(std::size_t at) const {
    if (text(at) != "<") return at;
    int depth = 0;
    for (std::size_t i = at; i < tokens_.size(); i = past(i)) {
      if (text(i) == ";" || (text(i) == "{" && syntax_ != BraceSyntax::script)) return at;
      depth += text(i) == "<" ? 1 : text(i) == ">" ? -1 : 0;
      if (depth == 0) return i + 1;
    }
    return at;
  }

  [[nodiscard]] std::string qualified(const std::string& name) const {
    std::string full;
    for (const NamedBlock& block : blocks_) {
      if (!block.name.empty()) full += block.name + (syntax_ == BraceSyntax::c ? "::" : ".");
    }
    return full + name;
  }

  void add(Match match, std::size_t close) {
    const std::string own = match.name;
    match.name = qualified(own);
    found_.push_back(std::move(match));
    blocks_.push_back({own, close});
  }

  // Languages with a word, or a name, before the parameters.

  void find_by_header() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      while (!blocks_.empty() && blocks_.back().close <= at) blocks_.pop_back();
      auto match = syntax_ == BraceSyntax::go     ? go_function(at)
                   : syntax_ == BraceSyntax::rust ? rust_function(at)
                                                  : script_function(at);
      if (match && partners_[match->open] != kNone && !is_found(match->open)) {
        const std::size_t open = match->open;
        add(std::move(*match), partners_[open]);
        at = open;
        continue;
      }
      const auto block = syntax_ == BraceSyntax::rust     ? rust_block(at)
                         : syntax_ == BraceSyntax::script ? script_block(at)
                                                          : std::nullopt;
      if (!block || partners_[block->open] == kNone) continue;
      blocks_.push_back({block->name, partners_[block->open]});
      at = block->open;
    }
  }
  [[nodiscard]] bool is_found(std::size_t open) const {
    return std::ranges::find(found_, open, &Match::open) != found_.end();
  }

  [[nodiscard]] std::optional<Match> go_function(std::size_t at) const {
    if (text(at) != "func" || !is_word(at)) return std::nullopt;
    std::size_t i = at + 1;
    std::string receiver;
    if (text(i) == "(") {
      std::vector<std::string_view> words;
      for (std::size_t in = i + 1; in < past(i) - 1 && text(in) != "["; ++in) {
        if (is_word(in)) words.push_back(text(in));
      }
      if (!words.empty()) receiver = std::string(words.back()) + ".";
      i = past(i);
    }
    if (!is_word(i)) return std::nullopt;
    const std::string name = receiver + std::string(text(i));
    i = past(i);
    if (text(i) == "[") i = past(i);
    if (text(i) != "(") return std::nullopt;
    i = past(i);
    // Its brace stands on the line where its header ends.
    while (i < tokens_.size() && tokens_[i].line == tokens_[i - 1].last_line) {
      const bool type = text(i - 1) == "interface" || text(i - 1) == "struct";
      if (text(i) == "{" && !type) return Match{name, at, i};
      i = past(i);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t rust_head(std::size_t at) const {
    while (at > 0) {
      const std::size_t before = at - 1;
      if (is_in(kRustModifiers, text(before)) || tokens_[before].kind == TokenKind::literal)
        at = before;
      else if (text(before) == ")" && partners_[before] != kNone && partners_[before] > 0 &&
               text(partners_[before] - 1) == "pub")
        at = partners_[before] - 1;
      else
        break;
    }
    return at;
  }

  /// The first brace of a header's end; none: a semicolon ends it.
  [[nodiscard]] std::size_t brace_after(std::size_t at) const {
    while (at < tokens_.size() && text(at) != "{" && text(at) != ";") at = past(at);
    return text(at) == "{" ? at : kNone;
  }

  [[nodiscard]] std::optional<Match> rust_function(std::size_t at) const {
    if (text(at) != "fn" || !is_word(at + 1)) return std::nullopt;
    const std::size_t parameters = past_angles(at + 2);
    if (text(parameters) != "(") return std::nullopt;
    const std::size_t open = brace_after(past(parameters));
    if (open == kNone) return std::nullopt;
    return Match{std::string(text(at + 1)), rust_head(at), open};
  }

  /// `impl<T> Trait for Type {`, `trait Name {`, `mod name {`.
  [[nodiscard]] std::optional<Match> rust_block(std::size_t at) const {
    const bool impl = text(at) == "impl";
    if (!impl && text(at) != "trait" && text(at) != "mod") return std::nullopt;
    std::size_t i = past_angles(at + 1);
    const std::size_t open = brace_after(i);
    if (open == kNone) return std::nullopt;
    for (std::size_t in = i; impl && in < open; ++in) {
      if (text(in) == "for") i = in + 1;
    }
    while (i < open && !is_word(i)) ++i;
    return is_word(i) ? std::optional(Match{std::string(text(i)), at, open}) : std::nullopt;
  }

  [[nodiscard]] std::size_t script_head(std::size_t at) const {
    while (at > 0 && is_in(kScriptModifiers, text(at - 1))) --at;
    return at;
  }

  /// Past a type that an object or function type may be part of: to the brace of a body, or to "=>" of an arrow.
  [[nodiscard]] std::size_t past_type(std::size_t at) const {
    if (text(at) != ":") return at;
    constexpr auto kBeforeType = std::to_array<std::string_view>({":", "|", "&", ",", "<", "=>"});
    for (std::size_t i = at + 1; i < tokens_.size(); i = past(i)) {
      if (text(i) == "{" && !is_in(kBeforeType, text(i - 1))) return i;
      if (text(i) == "=>" && text(i + 1) == "{") return i;
      if (text(i) == ";" || text(i) == "=" || text(i) == "}") return i;
    }
    return tokens_.size();
  }

  /// What the value that begins here is assigned to.
  [[nodiscard]] std::optional<Match> assigned(std::size_t value) const {
    if (value < 2) return std::nullopt;
    std::size_t at = value - 1;
    if (text(at) == "async") --at;
    if (at == 0 || (text(at) != "=" && text(at) != ":")) return std::nullopt;
    const bool member = text(at) == ":";
    std::size_t from = at - 1;
    if (!is_word(from)) return member ? std::nullopt : typed_variable(at);
    if (member) {
      if (from == 0 || (text(from - 1) != "{" && text(from - 1) != ",")) return typed_variable(at);
      return Match{std::string(text(from)), from, 0};
    }
    std::string name(text(from));
    while (from >= 2 && text(from - 1) == "." && is_word(from - 2)) {
      from -= 2;
      name = std::string(text(from)) + "." + name;
    }
    constexpr auto kEndsType = std::to_array<std::string_view>({":", "=>", "|", "&"});
    if (from > 0 && is_in(kEndsType, text(from - 1))) return typed_variable(at);
    for (const std::string_view prefix : {"module.", "exports.", "this."}) {
      if (name.starts_with(prefix)) name.erase(0, prefix.size());
    }
    return Match{name, from, 0};
  }

  /// `const name: Type = value`, from its "=".
  [[nodiscard]] std::optional<Match> typed_variable(std::size_t equals) const {
    if (text(equals) != "=") return std::nullopt;
    for (std::size_t at = equals; at-- > 0;) {
      if (text(at) == ";" || text(at) == "{") break;
      const bool declares = text(at) == "const" || text(at) == "let" || text(at) == "var";
      if (declares && is_word(at + 1) && text(at + 2) == ":") return Match{std::string(text(at + 1)), at + 1, 0};
      if (declares) break;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Match> script_function(std::size_t at) const {
    const bool keyword = text(at) == "function" && is_word(at);
    if (keyword) {
      std::size_t i = at + 1;
      if (text(i) == "*") ++i;
      auto target = assigned(at);
      const std::string own = is_word(i) ? std::string(text(i)) : "";
      if (is_word(i)) ++i;
      i = past_angles(i);
      if (text(i) != "(") return std::nullopt;
      const std::size_t open = past_type(past(i));
      if (text(open) != "{" || (own.empty() && !target)) return std::nullopt;
      return target ? Match{target->name, script_head(target->head), open} : Match{own, script_head(at), open};
    }
    if (const auto arrow = script_arrow(at)) return arrow;
    if (!is_word(at) || is_in(kControl, text(at)) || (at > 0 && (text(at - 1) == "." || text(at - 1) == "function")))
      return std::nullopt;
    if (at > 1 && text(at - 1) == "*" && text(at - 2) == "function") return std::nullopt;
    const std::size_t parameters = past_angles(at + 1);
    if (text(parameters) != "(" || partners_[parameters] == kNone) return std::nullopt;
    const std::size_t open = past_type(past(parameters));
    if (text(open) != "{") return std::nullopt;
    return Match{std::string(text(at)), script_head(at), open};
  }

  /// `name = (a, b) => {` and `name: a => {`, from the first token of the value.
  [[nodiscard]] std::optional<Match> script_arrow(std::size_t at) const {
    if (at == 0 || (text(at - 1) != "=" && text(at - 1) != ":" && text(at - 1) != "async")) return std::nullopt;
    std::size_t i = past_angles(at);
    if (text(i) == "(")
      i = past_type(past(i));
    else if (is_word(i))
      ++i;
    else
      return std::nullopt;
    if (text(i) != "=>" || text(i + 1) != "{") return std::nullopt;
    const auto target = assigned(at);
    if (!target) return std::nullopt;
    return Match{target->name, script_head(target->head), i + 1};
  }

  [[nodiscard]] std::optional<Match> script_block(std::size_t at) const {
    if (text(at) == "class" && is_word(at) && (at == 0 || text(at - 1) != ".")) {
      const std::size_t open = brace_after(at + 1);
      if (open == kNone) return std::nullopt;
      const bool named = is_word(at + 1) && text(at + 1) != "extends";
      const auto target = named ? std::nullopt : assigned(at);
      return Match{named ? std::string(text(at + 1)) : target ? target->name : "", at, open};
    }
    if (text(at) != "{" || at == 0 || text(at - 1) != "=") return std::nullopt;
    const auto target = assigned(at);
    return target && target->name != "exports" ? std::optional(Match{target->name, at, at}) : std::nullopt;
  }

  // C and C++: what stands before a brace between declarations says what it opens.

  void find_in_c() {
    std::size_t start = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind == TokenKind::directive) {
        if (start == at) start = at + 1;
        continue;
      }
      const std::string_view here = text(at);
      if (here == ";" || here == "}") {
        if (here == "}" && !blocks_.empty()) blocks_.pop_back();
        start = at + 1;
      } else if (here == ":" && at == start + 1 && text(start).starts_with("p")) {
        start = at + 1;  // public:
      } else if ((here == "(" || here == "[") && partners_[at] != kNone) {
        at = partners_[at];
      } else if (here == "{" && partners_[at] != kNone) {
        at = open_in_c(start, at);
      }
    }
  }

  /// What follows the brace is read from the token after the one that is given.
  std::size_t open_in_c(std::size_t& start, std::size_t open) {
    const std::size_t close = partners_[open];
    const auto enter = [&](const std::string& name) {
      blocks_.push_back({name, close});
      start = open + 1;
      return open;
    };
    std::size_t head = start;
    if (text(head) == "template") head = past_angles(head + 1);
    if (text(head) == "inline" && text(head + 1) == "namespace") ++head;
    if (text(head) == "namespace") {
      std::string name;
      for (std::size_t i = head + 1; i < open; ++i) name += text(i);
      return enter(name);
    }
    if (text(head) == "extern" && tokens_[head + 1].kind == TokenKind::literal && open == head + 2) return enter("");
    const Header header = header_of(head, open);
    if (header.assigns) return close;
    if (header.parameters != kNone) {
      // A member's braces in a constructor's list.
      if (header.initializes && (is_word(open - 1) || text(open - 1) == ">")) return close;
      std::string name = name_before(header.parameters, head);
      if (name.empty()) return close;
      add({std::move(name), start, open}, close);
      blocks_.pop_back();
      start = close + 1;
      return close;
    }
    if (header.type.empty()) return close;
    return enter(header.type);
  }

  struct Header {
    std::size_t parameters = kNone;  ///< their bracket
    bool assigns = false;
    bool initializes = false;  ///< a constructor's list has begun
    std::string type;          ///< of a class, struct or union
  };
  [[nodiscard]] Header header_of(std::size_t from, std::size_t open) const {
    Header header;
    bool in_type = false;
    bool in_bases = false;
    for (std::size_t i = from; i < open; i = past(i)) {
      const std::string_view here = text(i);
      if (here == "operator") {
        // "operator()(", "operator==(", "operator bool(": the last bracket before what ends the header.
        std::size_t at = i + 1;
        if (text(at) == "(") at = past(at);
        while (at < open && text(at) != "(") ++at;
        if (at < open) header.parameters = at;
        i = at;
      } else if (here == "(") {
        const bool first = header.parameters == kNone && !in_type && i > from;
        const bool behind_macro = header.parameters != kNone && !header.initializes && is_word(i - 1) &&
                                  may_be_macro(header.parameters - 1, from);
        if ((first || behind_macro) && !is_in(kWithBrackets, text(i - 1))) header.parameters = i;
      } else if (here == "=" && header.parameters == kNone) {
        header.assigns = true;
      } else if (here == ":") {
        header.initializes = header.parameters != kNone;
        in_bases = in_type;
      } else if (here == "class" || here == "struct" || here == "union") {
        in_type = i == from || header.parameters == kNone;
      } else if (in_type && !in_bases && is_word(i) && here != "final" && !is_in(kWithBrackets, here)) {
        header.type = std::string(here);
      }
      // `struct point make(int x)`: a function that gives a struct.
      if (in_type && here == "(" && !is_in(kWithBrackets, text(i - 1)) && is_word(i - 1)) {
        header.parameters = i;
        in_type = false;
      }
    }
    return header;
  }

  /// Whether the word may be EXPORT in `static EXPORT(type) name(parameters)`: no type stands before it, and no
  /// constructor has this name.
  [[nodiscard]] bool may_be_macro(std::size_t word, std::size_t from) const {
    for (std::size_t i = from; i < word; ++i) {
      if (!is_in(kStorage, text(i)) && tokens_[i].kind != TokenKind::literal) return false;
    }
    return blocks_.empty() || blocks_.back().name != text(word);
  }

  [[nodiscard]] std::string name_before(std::size_t parameters, std::size_t from) const {
    for (std::size_t at = parameters; at > from && at + 5 > parameters; --at) {
      if (text(at - 1) != "operator") continue;
      std::string name = "operator";
      for (std::size_t i = at; i < parameters; ++i) name += text(i);
      return prefixed(std::move(name), at - 1, from);
    }
    std::size_t at = parameters;
    if (at == from || !is_word(at - 1)) return "";
    --at;
    std::string name(text(at));
    if (at > from && text(at - 1) == "~") {
      name = "~" + name;
      --at;
    }
    return prefixed(std::move(name), at, from);
  }

  /// With the classes that qualify it: A::B<T>::name.
  [[nodiscard]] std::string prefixed(std::string name, std::size_t at, std::size_t from) const {
    while (at > from + 1 && text(at - 1) == "::") {
      std::size_t before = at - 2;
      if (text(before) == ">") {
        int depth = 0;
        while (before > from) {
          depth += text(before) == ">" ? 1 : text(before) == "<" ? -1 : 0;
          --before;
          if (depth == 0) break;
        }
      }
      if (!is_word(before)) break;
      name = std::string(text(before)) + "::" + name;
      at = before;
    }
    return name;
  }

  BraceSyntax syntax_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> partners_;
  std::vector<NamedBlock> blocks_;
  std::vector<Match> found_;
};

std::size_t offset_of(std::string_view source, std::string_view token) {
  return static_cast<std::size_t>(token.data() - source.data());
}

/// Whether other code stands on its first or last line.
bool shares_a_line(std::string_view source, const Token& first, const Token& close) {
  const std::size_t begin = offset_of(source, first.text);
  const std::size_t line = begin == 0 ? 0 : source.rfind('\n', begin - 1) + 1;
  if (!base::trimmed(source.substr(line, begin - line)).empty()) return true;
  const std::size_t end = offset_of(source, close.text) + 1;
  std::string_view rest = source.substr(end, source.find('\n', end) - end);
  rest = base::trimmed(rest.substr(0, rest.find("//")));
  const bool continued = base::trimmed(source.substr(end, source.find('\n', end) - end)).ends_with('\\');
  return rest.find_first_not_of(";,) ") != rest.npos || continued;
}

}  // namespace

std::vector<FunctionPlace> brace_functions_of(const CodeLanguage& language, std::string_view source) {
  Finder finder(language.braces, tokens_of(language, source));
  const std::vector<Match> matches = finder.find();
  const std::vector<Token>& tokens = finder.tokens();
  std::vector<FunctionPlace> places;
  for (const Match& match : matches) {
    const Token& first = tokens[match.head];
    const Token& close = tokens[finder.partner(match.open)];
    FunctionPlace place{.name = match.name,
                        .first = first.line,
                        .header = first.line,
                        .body = tokens[match.open].line + 1,
                        .last = close.line + 1,
                        .signature = {},
                        .shares_line = shares_a_line(source, first, close)};
    for (std::size_t at = match.head; at < match.open; ++at) place.signature += std::string(tokens[at].text) + " ";
    places.push_back(std::move(place));
  }
  return places;
}

std::vector<SourceLine> brace_lines_of(const CodeLanguage& language, std::string_view source) {
  std::vector<SourceLine> lines;
  std::string_view rest = source;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    SourceLine line;
    line.text = rest.substr(0, end == rest.npos ? rest.npos : end + 1);
    line.blank = base::trimmed(line.text).empty();
    rest.remove_prefix(line.text.size());
    lines.push_back(line);
  }
  for (const Token& token : tokens_of(language, source)) {
    for (std::size_t at = token.line + 1; at <= token.last_line && at < lines.size(); ++at) lines[at].inside = true;
  }
  return lines;
}

}  // namespace accelopt::refactor
