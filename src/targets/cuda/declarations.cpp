// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/declarations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace accelopt::targets::cuda {
namespace {

using model::Token;
using model::TokenKind;

/// In place of a preprocessor line within a declaration, which may take words of it away.
constexpr std::string_view kInterruption = "#";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_name(std::string_view word) {
  return !word.empty() && is_name_character(word.front()) &&
         std::isdigit(static_cast<unsigned char>(word.front())) == 0;
}
bool makes_constant(std::string_view word) {
  return word == "const" || word == "constexpr";
}
bool makes_last(std::string_view word) {
  return word == "static" || word == "__device__" || word == "__managed__";
}
bool opens_bracket(std::string_view word) {
  return word == "(" || word == "[" || word == "{";
}
bool closes_bracket(std::string_view word) {
  return word == ")" || word == "]" || word == "}";
}
bool is_attribute(std::string_view word) {
  static constexpr std::array kAttributes = std::to_array<std::string_view>(
      {"alignas", "__align__", "__attribute__", "__launch_bounds__", "__cluster_dims__", "__maxnreg__"});
  return std::find(kAttributes.begin(), kAttributes.end(), word) != kAttributes.end();
}

/// By how much a word changes the depth of template arguments and extents. Of a "<" that compares the depth stays,
/// which only hides a const.
int depth_step(std::string_view word) {
  if (word == "<" || word == "[") return 1;
  return word == ">" || word == "]" ? -1 : word == ">>" ? -2 : 0;
}

/// The words that hold for every declarator of the declaration.
std::vector<std::string> specifiers_of(const std::vector<std::string>& words) {
  const bool interrupted = std::find(words.begin(), words.end(), kInterruption) != words.end();
  std::vector<std::string> out;
  int depth = 0;
  bool shared = true;  // left of the first "*"
  for (const std::string& word : words) {
    depth += depth_step(word);
    if (word == "*" || word == "&") shared = false;
    const bool constant = depth == 0 && !interrupted && (word == "constexpr" || (word == "const" && shared));
    if (constant || makes_last(word)) out.push_back(word);
  }
  return out;
}

/// Whether what is declared is constant itself, not what it points to, nor what its type's arguments name.
bool declares_constant(const std::vector<std::string>& words) {
  int depth = 0;
  bool constant = false;
  bool always = false;
  for (const std::string& word : words) {
    if (word == kInterruption) return false;
    depth += depth_step(word);
    if (depth == 0 && makes_constant(word)) constant = true;
    if (depth == 0 && word == "constexpr") always = true;
    if (word == "*") constant = always;
  }
  return constant;
}

/// The last name that is no template argument's and no extent's.
std::string last_name(const std::vector<std::string>& words) {
  int depth = 0;
  std::string out;
  for (const std::string& word : words) {
    depth += depth_step(word);
    if (depth == 0 && is_name(word)) out = word;
  }
  return out;
}

/// The place behind what closes the bracket at `begin`; nothing where it stays open.
std::optional<std::size_t> behind_bracket(const std::vector<Token>& tokens, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    if (opens_bracket(tokens[i].text)) ++depth;
    if (closes_bracket(tokens[i].text) && --depth == 0) return i + 1;
  }
  return std::nullopt;
}

/// The place behind the parameters that open with the "<" at `begin`; nothing where they stay open, or hold what may be
/// a declaration of something else.
std::optional<std::size_t> behind_template_parameters(const std::vector<Token>& tokens, std::size_t begin) {
  int brackets = 0;
  int depth = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    if (tokens[i].kind == TokenKind::preprocessor || makes_last(word) || word == ";") return std::nullopt;
    if (opens_bracket(word)) ++brackets;
    if (closes_bracket(word) && --brackets < 0) return std::nullopt;
    if (brackets > 0) continue;
    depth += depth_step(word);
    if (depth <= 0) return i + 1;
  }
  return std::nullopt;
}

/// The name that a declarator in the parentheses at `begin` gives, as in "(*const a)[4]"; of a function's parameters
/// the first one's type.
std::string name_in_parentheses(const std::vector<Token>& tokens, std::size_t begin) {
  static constexpr std::array kPassed =
      std::to_array<std::string_view>({"(", "*", "&", "&&", "const", "volatile", "__restrict__"});
  std::size_t at = begin;
  while (at + 1 < tokens.size()) {
    const bool passed = std::find(kPassed.begin(), kPassed.end(), tokens[at].text) != kPassed.end();
    const bool scope = tokens[at + 1].text == "::";
    if (!passed && !scope) break;
    at += passed ? 1 : 2;
  }
  return at < tokens.size() ? tokens[at].text : "";
}

/// Without the ends of lines that a compiler does not see, which may part a word in two.
std::string without_spliced_ends(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const std::size_t spliced = rest.starts_with("\\\n") ? 2 : rest.starts_with("\\\r\n") ? 3 : 0;
    if (spliced == 0) out += text[at];
    if (spliced > 0) at += spliced - 1;
  }
  return out;
}

}  // namespace

DeclaredName declared_name(const std::string& demangled) {
  if (!demangled.ends_with('>')) {
    const auto at = demangled.rfind("::");
    return {.text = at == std::string::npos ? demangled : demangled.substr(at + 2)};
  }
  // Brackets in the name of an operator close nothing.
  if (demangled.find("operator") != std::string::npos) return {.text = demangled};
  static constexpr std::string_view kOpening = "<([{";
  static constexpr std::string_view kClosing = ">)]}";
  std::string open;
  std::size_t end = demangled.size();
  do {
    --end;
    const char c = demangled[end];
    if (const auto closing = kClosing.find(c); closing != std::string_view::npos) open += kOpening[closing];
    if (kOpening.find(c) == std::string_view::npos) continue;
    if (open.back() != c) return {.text = demangled};
    open.pop_back();
  } while (end > 0 && !open.empty());
  std::size_t begin = end;
  while (begin > 0 && is_name_character(demangled[begin - 1])) --begin;
  if (!open.empty() || begin == end) return {.text = demangled};
  return {.text = demangled.substr(begin, end - begin), .is_instance = true};
}

/// Reads a file's declarations statement by statement.
class Declarations::Statements {
 public:
  explicit Statements(Declarations& out) : out_(out) {}

  void read(const std::vector<Token>& tokens) {
    int skipped = 0;  // parentheses of an attribute
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string& word = tokens[i].text;
      if (tokens[i].kind == TokenKind::preprocessor) {
        interrupt();
        continue;
      }
      if (before_ == "namespace") out_.namespaces_.insert(word);
      const bool attribute = is_attribute(before_);
      if (skipped > 0 || (attribute && word == "(")) {
        skipped += word == "(" ? 1 : word == ")" ? -1 : 0;
      } else if (const auto end = behind_parameters(tokens, i)) {
        i = *end - 1;
      } else {
        step(word);
      }
      before_ = tokens[i].text;
    }
  }

 private:
  /// Where in a statement the next word stands. Behind a "(" follow parameters or a value; nothing is declared there.
  enum class Part { declaration, initializer, parameters };

  /// What goes on behind a "}".
  struct Opened {
    Part part;
    int depth;
    std::vector<std::string> specifiers;
  };

  std::optional<std::size_t> behind_parameters(const std::vector<Token>& tokens, std::size_t at) {
    const bool begins = !gave_up_ && part_ == Part::declaration && tokens[at].text == "template" &&
                        at + 1 < tokens.size() && tokens[at + 1].text == "<";
    const auto end = begins ? behind_template_parameters(tokens, at + 1) : std::nullopt;
    gave_up_ = gave_up_ || (begins && !end);  // each further one might be sought to the end of the text
    return end;
  }

  void interrupt() {
    if (std::any_of(words_.begin(), words_.end(), makes_constant)) words_.emplace_back(kInterruption);
  }

  void begin() {
    part_ = Part::declaration;
    depth_ = 0;
    argument_depth_ = 0;
    words_.clear();
    specifiers_.clear();
  }

  void step(const std::string& word) {
    if (word == ";") {
      declare();
      return begin();
    }
    if (word == "{") return open();
    if (word == "}") return close();
    if (part_ == Part::declaration) return step_declaration(word);
    // None of it stands in a value: its end was overlooked, as where a directive takes one of two brackets away.
    const bool begins_another = makes_last(word) || word == "template" || (before_ == "}" && is_name(word));
    if (begins_another && (part_ == Part::initializer || depth_ == 0)) {
      begin();
      return step_declaration(word);
    }
    if (word == "(" || word == "[") ++depth_;
    if ((word == ")" || word == "]") && depth_ > 0) --depth_;
    if (word == "," && depth_ == 0 && (part_ == Part::initializer || keeps_value())) return next_declarator();
    if (part_ == Part::initializer) return;
    if (word == "->" && depth_ == 0) specifiers_.clear();  // a function, whose type follows
    if (word == "=" && depth_ == 0) part_ = Part::initializer;
    // Behind the parentheses of a type, or within those of a declarator.
    if (is_name(word) && (depth_ == 0 || (depth_ == 1 && before_ == "(")) && keeps_value())
      out_.variables_.insert(word);
  }

  void step_declaration(const std::string& word) {
    if (word == "=") {
      declare();
      part_ = Part::initializer;
      depth_ = 0;
    } else if (word == "(") {
      specifiers_ = specifiers_of(words_);
      // A variable with its value in parentheses, or a function, whose name does no harm.
      if (keeps_value()) out_.variables_.insert(last_name(words_));
      part_ = Part::parameters;
      depth_ = 1;
      words_.clear();
    } else if (word == "," && argument_depth_ == 0) {
      declare();
      next_declarator();
    } else {
      argument_depth_ += depth_step(word);
      words_.push_back(word);
    }
  }

  void next_declarator() {
    part_ = Part::declaration;
    depth_ = 0;
    argument_depth_ = 0;
    words_ = specifiers_;
  }

  void open() {
    const bool has_body = std::any_of(words_.begin(), words_.end(), [](const std::string& word) {
      static constexpr std::array kBodies =
          std::to_array<std::string_view>({"struct", "class", "union", "enum", "namespace", "extern"});
      return std::find(kBodies.begin(), kBodies.end(), word) != kBodies.end();
    });
    declare();
    const bool is_value = part_ == Part::declaration && !specifiers_.empty() && !has_body;
    opened_.push_back({is_value ? Part::initializer : part_, depth_, specifiers_});
    begin();
  }

  void close() {
    declare();
    begin();
    if (opened_.empty()) return;
    if (opened_.back().part == Part::initializer) {
      part_ = Part::initializer;
      depth_ = opened_.back().depth;
      specifiers_ = opened_.back().specifiers;
    }
    opened_.pop_back();
  }

  void declare() {
    if (part_ != Part::declaration) return;
    const bool constant = declares_constant(words_);
    const bool lasts = std::any_of(words_.begin(), words_.end(), makes_last);
    if (constant) out_.constants_.insert(words_.begin(), words_.end());
    if (!constant && lasts) out_.variables_.insert(words_.begin(), words_.end());
    specifiers_ = specifiers_of(words_);
    words_.clear();
  }

  /// Whether the declaration is one of variables that last and are not constant.
  [[nodiscard]] bool keeps_value() const {
    return std::any_of(specifiers_.begin(), specifiers_.end(), makes_last) &&
           std::none_of(specifiers_.begin(), specifiers_.end(), makes_constant);
  }

  Declarations& out_;
  Part part_ = Part::declaration;
  int depth_ = 0;           ///< of brackets, in a value or behind "("
  int argument_depth_ = 0;  ///< in the declarator's words
  bool gave_up_ = false;    ///< on skipping parameters of templates
  std::string before_;
  std::vector<std::string> words_;       ///< of the declarator
  std::vector<std::string> specifiers_;  ///< that a further declarator shares
  std::vector<Opened> opened_;
};

Declarations::Declarations(const model::Solution& solution) {
  std::vector<std::vector<Token>> files;
  for (const model::SourceFile& file : solution.sources) {
    std::vector<Token> tokens = model::c_tokens(without_spliced_ends(file.text));
    std::erase_if(tokens, [](const Token& token) { return token.kind == TokenKind::directive; });
    for (const Token& token : tokens) {
      if (token.kind == TokenKind::preprocessor) read_directive(token.text);
    }
    files.push_back(std::move(tokens));
  }
  for (const std::vector<Token>& tokens : files) {
    Statements(*this).read(tokens);
    read_templates(tokens);
  }
}

bool Declarations::constant(const DeclaredName& name) const {
  if (variables_.contains(name.text)) return false;
  if (!name.is_instance) return constants_.contains(name.text);
  return !hides_templates_ && constant_templates_.contains(name.text) && !other_templates_.contains(name.text);
}

/// A macro may open a namespace or a template, too.
void Declarations::read_directive(std::string_view text) {
  bool defines = false;
  std::string before;
  for (const Token& token : model::c_tokens(text.substr(1))) {
    if (before == "namespace") namespaces_.insert(token.text);
    if (before == "define") macros_.insert(token.text);
    if (before == "define") defines = true;
    if (defines && (token.text == "template" || token.text == "##")) hides_templates_ = true;
    before = token.text;
  }
}

void Declarations::read_templates(const std::vector<Token>& tokens) {
  std::string before;
  for (std::size_t i = 0; i < tokens.size() && !hides_templates_; ++i) {
    const std::string& word = tokens[i].text;
    if (word == ":" && before == "%") hides_templates_ = true;  // "%:" is a "#"
    const bool of_member = before == "." || before == "->" || before == "::";
    if (word == "template" && !of_member && i + 1 < tokens.size() && tokens[i + 1].text == "<")
      read_template(tokens, i);
    before = word;
  }
}

/// What one template declares. Constant is only what cannot be read otherwise: a type without parentheses and macros,
/// a const of its own, and a value.
void Declarations::read_template(const std::vector<Token>& tokens, std::size_t begin) {
  std::vector<std::string> words;
  std::vector<std::string> inner;  // names in parentheses
  int depth = 0;                   // of template arguments
  auto next = behind_template_parameters(tokens, begin + 1);
  while (next && *next < tokens.size()) {
    const std::size_t at = *next;
    const std::string& word = tokens[at].text;
    if (tokens[at].kind == TokenKind::preprocessor || word == "requires") break;
    if (word == "template") return;  // of a member, which is read on its own
    if (word == "operator" && depth == 0) return;
    if (word == ";" || word == "=" || word == "{" || word == "}") {
      if (depth != 0) break;
      const bool macro =
          std::any_of(words.begin(), words.end(), [&](const auto& one) { return macros_.contains(one); });
      const bool constant = declares_constant(words) && inner.empty() && !macro;
      if (constant && (word == "=" || word == "{")) constant_templates_.insert(words.begin(), words.end());
      if (constant) return;
      other_templates_.insert(words.begin(), words.end());
      other_templates_.insert(inner.begin(), inner.end());
      return;
    }
    const bool is_bracket = word == "(" || word == "[";
    const bool attribute = !words.empty() && is_attribute(words.back());
    if (word == "(" && !attribute) inner.push_back(name_in_parentheses(tokens, at));
    if (!is_bracket) {
      depth += depth_step(word);
      words.push_back(word);
    }
    next = is_bracket ? behind_bracket(tokens, at) : at + 1;
  }
  hides_templates_ = true;
}

}  // namespace accelopt::targets::cuda
