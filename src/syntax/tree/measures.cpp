// SPDX-License-Identifier: Apache-2.0
#include "syntax/tree/measures.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "syntax/tree/api.hpp"
#include "syntax/tree/grammar_table.hpp"

namespace accelopt::syntax::tree {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kMostBytes = 4UL << 20;
constexpr std::uint64_t kMostMicroseconds = 5'000'000;
/// Nodes above a node: each takes stack, under a sanitizer up to 8 kB of it, and 1,500 would need more than 8 MiB.
#ifdef ACCELOPT_SANITIZED
constexpr int kDeepest = 500;
#else
constexpr int kDeepest = 1500;
#endif
constexpr std::size_t kLongestName = 120;

/// Past the string or character that begins at `at`; at + 1 where none does: a lifetime of Rust.
std::size_t past_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
  constexpr std::size_t kLongestCharacter = 12;
  return quote == '\'' && end - at > kLongestCharacter ? at + 1 : std::min(end + 1, text.size());
}

/// Frees through the library that made it.
class Cursor {
 public:
  Cursor(const Api& api, TSNode node) : api_(api), cursor_(api.tree_cursor_new(node)) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { api_.tree_cursor_delete(&cursor_); }
  bool down() { return api_.tree_cursor_goto_first_child(&cursor_); }
  bool next() { return api_.tree_cursor_goto_next_sibling(&cursor_); }
  [[nodiscard]] TSNode node() const { return api_.tree_cursor_current_node(&cursor_); }
  [[nodiscard]] std::string_view field() const {
    const char* const name = api_.tree_cursor_current_field_name(&cursor_);
    return name == nullptr ? std::string_view() : name;
  }

 private:
  const Api& api_;
  TSTreeCursor cursor_;
};

/// Where a node stands.
struct Place {
  int nesting = 0;
  int depth = 0;
  std::string_view parent{};    ///< its type
  std::string_view field{};     ///< of the parent
  std::string_view sequence{};  ///< the operator of the logical sequence that it is in
  std::string_view assigned{};  ///< the name that a function without one is given
  bool continues = false;       ///< an if that is the else of another
};

class Walk {
 public:
  Walk(const Api& api, std::string_view language, std::string_view text)
      : api_(api), language_(language), text_(text) {}

  Result<Measures> of(TSNode root) {
    out_.functions.push_back({.name = "", .line = 1});
    visit(root, {});
    if (too_deep_) return base::fail(ErrorCode::parse, fmt::format("it nests deeper than {} levels", kDeepest));
    return std::move(out_);
  }

 private:
  FunctionMeasure& now() { return out_.functions[function_]; }
  [[nodiscard]] std::string_view text_of(TSNode node) const {
    const std::size_t begin = std::min<std::size_t>(api_.node_start_byte(node), text_.size());
    const std::size_t end = std::clamp<std::size_t>(api_.node_end_byte(node), begin, text_.size());
    return text_.substr(begin, end - begin);
  }
  [[nodiscard]] TSNode child(TSNode node, std::string_view field) const {
    return api_.node_child_by_field_name(node, field.data(), static_cast<std::uint32_t>(field.size()));
  }
  [[nodiscard]] std::string_view field_text(TSNode node, std::string_view field) const {
    const TSNode found = child(node, field);
    return api_.node_is_null(found) ? std::string_view() : text_of(found);
  }

  /// "f" of `int *f(int)`: the declarators around it are stripped.
  [[nodiscard]] std::string_view name_of(TSNode node) const {
    if (const auto name = field_text(node, "name"); !name.empty()) return name;
    if (const auto type = field_text(node, "type"); !type.empty() && !in_function_) {
      if (kind_of(language_, api_.node_type(node)) == NodeKind::type) return type;
    }
    TSNode at = child(node, "declarator");
    for (int step = 0; step < 16 && !api_.node_is_null(at); ++step) {
      const TSNode inner = child(at, "declarator");
      if (api_.node_is_null(inner)) return text_of(at);
      at = inner;
    }
    return {};
  }

  void count(int increment, const Place& place) {
    now().cognitive += increment;
    now().nesting = std::max(now().nesting, place.nesting + 1);
  }

  void visit(TSNode node, Place place) {
    if (place.depth >= kDeepest) too_deep_ = true;
    if (too_deep_) return;
    const std::string_view type = api_.node_type(node);
    if (type.ends_with("comment")) return;
    if (stands_for_itself(node, type, place)) {
      ++now().statements;
      const int outer = std::exchange(tokens_, 0);
      visit_kind(node, place, type);
      now().longest = std::max(now().longest, std::exchange(tokens_, outer));
    } else {
      visit_kind(node, place, type);
    }
  }

  void visit_kind(TSNode node, const Place& place, std::string_view type) {
    NodeKind kind = api_.node_is_named(node) ? kind_of(language_, type) : NodeKind::other;
    // Guards of a header and the like are no branches of a function.
    if (!in_function_ && type.starts_with("preproc_")) kind = NodeKind::other;
    Place below{.nesting = place.nesting, .depth = place.depth + 1, .parent = type};
    switch (kind) {
      case NodeKind::branch:
        return visit_branch(node, place, below);
      case NodeKind::alternative:
        return visit_alternative(node, place, below);
      case NodeKind::loop:
      case NodeKind::choice:
      case NodeKind::handler:
      case NodeKind::conditional:
        count(1 + place.nesting, place);
        ++below.nesting;
        break;
      case NodeKind::jump:
        if (type.starts_with("goto") || names_label(node)) ++now().cognitive;
        break;
      case NodeKind::logical:
        if (const auto sign = logical_operator(node, type); !sign.empty()) {
          if (sign != place.sequence) ++now().cognitive;
          below.sequence = sign;
        }
        break;
      case NodeKind::closure:
      case NodeKind::function:
        return visit_function(node, kind, place, below);
      case NodeKind::type:
        return visit_type(node, below);
      case NodeKind::call:
        look_at_call(node);
        break;
      case NodeKind::other:
        look_at_rest(node, place, type);
        break;
    }
    // A sequence goes on through brackets, and through nothing else.
    if (type == "parenthesized_expression") below.sequence = place.sequence;
    if (type == "variable_declarator" || type == "pair" || type == "field_definition" ||
        type == "assignment_expression")
      below.assigned = assigned_name(node);
    children(node, below);
  }

  [[nodiscard]] bool stands_for_itself(TSNode node, std::string_view type, const Place& place) const {
    // What a comma puts on one line is a step as well.
    if (type == ",") return place.parent == "sequence_expression" || place.parent == "comma_expression";
    if (!api_.node_is_named(node)) return false;
    if (is_statement(language_, type)) return true;
    return holds_expressions_as_statements(language_, place.parent) && !type.ends_with("comment") &&
           !type.ends_with("_item") && type != "label" && type != "attribute_item";
  }

  void children(TSNode node, Place below) {
    Cursor cursor(api_, node);
    if (!cursor.down()) {
      ++tokens_;
      return;
    }
    const int nesting = below.nesting;
    const bool repeats = kind_of(language_, below.parent) == NodeKind::loop;
    do {
      below.field = cursor.field();
      // The else of a loop is no part of what it repeats.
      const bool is_else = kind_of(language_, api_.node_type(cursor.node())) == NodeKind::alternative;
      below.nesting = repeats && is_else ? nesting - 1 : nesting;
      if (below.parent == "let_declaration" && below.field == "alternative") below.nesting = nesting + 1;
      visit(cursor.node(), below);
    } while (cursor.next());
  }

  /// if: its condition is not nested in it, and an else is told apart by its field where the grammar has no node for
  /// it.
  void visit_branch(TSNode node, const Place& place, Place below) {
    count(place.continues ? 1 : 1 + place.nesting, place);
    Cursor cursor(api_, node);
    if (!cursor.down()) return;
    do {
      below.field = cursor.field();
      below.nesting = place.nesting;
      below.continues = false;
      const std::string_view type = api_.node_type(cursor.node());
      const NodeKind kind = kind_of(language_, type);
      const bool is_else = below.field == "alternative";
      if (is_else && kind == NodeKind::branch) {
        below.continues = true;
      } else if (is_else && kind != NodeKind::alternative) {
        ++now().cognitive;  // a plain else
        ++below.nesting;
      } else if (!is_else && below.field != "condition" && below.field != "initializer") {
        ++below.nesting;
      }
      visit(cursor.node(), below);
    } while (cursor.next());
  }

  /// else, elif: one, and what is in it is nested as what is in the if; an if right in it goes on with the chain.
  void visit_alternative(TSNode node, const Place& place, Place below) {
    Cursor cursor(api_, node);
    const bool is_chain = chained(node);
    if (!is_chain) count(1, place);
    if (!cursor.down()) return;
    do {
      below.field = cursor.field();
      const NodeKind kind = kind_of(language_, api_.node_type(cursor.node()));
      below.continues = is_chain && kind == NodeKind::branch;
      const bool further = kind == NodeKind::alternative;  // of the preprocessor, one within the other
      below.nesting = place.nesting + (below.continues || further || below.field == "condition" ? 0 : 1);
      visit(cursor.node(), below);
    } while (cursor.next());
  }

  /// Whether the else holds an if and nothing else: "else if".
  [[nodiscard]] bool chained(TSNode node) const {
    if (std::string_view(api_.node_type(node)) != "else_clause") return false;
    Cursor cursor(api_, node);
    if (!cursor.down()) return false;
    do {
      if (api_.node_is_named(cursor.node()) && kind_of(language_, api_.node_type(cursor.node())) == NodeKind::branch)
        return true;
    } while (cursor.next());
    return false;
  }

  void visit_function(TSNode node, NodeKind kind, const Place& place, Place below) {
    std::string name(kind == NodeKind::closure ? std::string_view() : name_of(node));
    if (name.empty()) name = place.assigned;
    if (in_function_ || kind == NodeKind::closure) {
      ++below.nesting;
      callable_.push_back({name, false});
      children(node, below);
      if (callable_.back().recursive) ++now().cognitive;
      callable_.pop_back();
      return;
    }
    const auto point = api_.node_start_point(node);
    const std::size_t outer = std::exchange(function_, out_.functions.size());
    out_.functions.push_back(
        {.name = base::ascii_line(scope_ + name, kLongestName), .line = static_cast<int>(point.row) + 1});
    in_function_ = true;
    const std::string_view receiver = field_text(node, "receiver");  // "(b *Box)" of Go
    receiver_ = receiver.empty() ? receiver : receiver.substr(1, receiver.find_first_of(" )") - 1);
    callable_.push_back({name, false});
    below.nesting = 0;
    children(node, below);
    if (callable_.back().recursive) ++now().cognitive;
    callable_.pop_back();
    in_function_ = false;
    function_ = outer;
  }

  void visit_type(TSNode node, const Place& below) {
    const std::string outer = scope_;
    if (const auto name = name_of(node); !name.empty()) scope_ += std::string(name) + ".";
    children(node, below);
    scope_ = outer;
  }

  void look_at_call(TSNode node) {
    std::string_view name = field_text(node, "function");
    if (name.empty()) name = field_text(node, "constructor");
    if (name.empty()) return;
    if (name == "getattr" && names_literally(node)) named_literally_ = api_.node_start_byte(node);
    const std::size_t dot = name.rfind('.');
    const std::string_view object = dot == name.npos ? std::string_view() : name.substr(0, dot);
    const bool of_itself = object == "self" || object == "this" || (!receiver_.empty() && object == receiver_);
    for (Callable& one : callable_) {
      if (one.name.empty()) continue;
      one.recursive = one.recursive || name == one.name || name == "Self::" + one.name ||
                      (of_itself && name.substr(dot + 1) == one.name);
    }
  }

  /// getattr(x, "a"): no other name can come out of it.
  [[nodiscard]] bool names_literally(TSNode call) const {
    const TSNode arguments = child(call, "arguments");
    if (api_.node_is_null(arguments)) return false;
    Cursor cursor(api_, arguments);
    int named = 0;
    for (bool more = cursor.down(); more; more = cursor.next()) {
      const std::string_view type = api_.node_type(cursor.node());
      if (!api_.node_is_named(cursor.node()) || type == "comment") continue;
      if (++named == 2) return type == "string" && text_of(cursor.node()).find('{') == std::string_view::npos;
    }
    return false;
  }

  /// What counts of nodes that have no kind.
  void look_at_rest(TSNode node, const Place& place, std::string_view type) {
    const auto has = [&](const char* field) { return !api_.node_is_null(child(node, field)); };
    // What follows is an if that is written otherwise.
    if ((type == "match_pattern" && has("condition")) || (type == "let_declaration" && has("alternative")))
      count(1 + place.nesting, place);
    if (type == "preproc_arg" || (type == "token_tree" && place.parent != "token_tree"))
      count_words(text_of(node), place);
    // Names of types and of namespaces run nothing.
    const bool is_name = type.ends_with("identifier") && type != "type_identifier" && type != "namespace_identifier";
    if (is_name || type == "string_fragment" || type == "string_content") look_at_name(node, place);
  }

  /// Whatever is done with it: what runs text may be called by another name then.
  void look_at_name(TSNode node, const Place& place) {
    const std::string_view name = text_of(node);
    if (!runs_text(language_, name) || api_.node_start_byte(node) == named_literally_) return;
    const bool of_regular_expressions = name == "compile" && place.parent == "attribute" && place.field == "attribute";
    const bool of_class = name == "constructor" && place.parent == "method_definition";
    const bool of_argument = place.parent == "keyword_argument" && place.field == "name";
    if (!of_regular_expressions && !of_class && !of_argument) ++out_.text_runners;
  }

  /// A macro's text has no tree: its words are counted, with the braces around them as nesting.
  void count_words(std::string_view text, const Place& place) {
    Place at = place;
    bool after_else = false;
    std::string_view sequence;
    for (std::size_t i = 0; i < text.size();) {
      const std::string_view two = text.substr(i, 2);
      if (text[i] == '"' || text[i] == '\'') {
        i = past_literal(text, i);
      } else if (two == "//" || two == "/*") {
        i = std::min(text.find(two == "//" ? "\n" : "*/", i + 2), text.size() - 1) + 1;
      } else if (base::is_word(text[i])) {
        const std::size_t begin = i;
        while (i < text.size() && base::is_word(text[i])) ++i;
        const std::string_view word = text.substr(begin, i - begin);
        if (word == "else" || word == "goto")
          ++now().cognitive;
        else if (branches_in_macro(language_, word) && !(after_else && word == "if"))
          count(1 + at.nesting, at);
        after_else = word == "else";
      } else {
        if (two == "&&" || two == "||") {
          if (two != sequence) ++now().cognitive;
          sequence = two;
          ++i;
        } else if (const char mark = text[i]; mark == '{' || mark == '}' || mark == ';' || mark == ',') {
          sequence = {};
          at.nesting = std::max(place.nesting, at.nesting + (mark == '{' ? 1 : mark == '}' ? -1 : 0));
          if (mark == ';' && (language_ != "rust" || at.nesting > place.nesting)) ++now().statements;
        } else if (mark == '?' && language_ != "rust") {
          count(1 + at.nesting, at);
        }
        if (std::isspace(static_cast<unsigned char>(text[i])) == 0) after_else = false;
        ++i;
      }
    }
  }

  [[nodiscard]] std::string_view logical_operator(TSNode node, std::string_view type) const {
    if (type == "let_chain") return "&&";
    const std::string_view sign = field_text(node, "operator");
    if (sign == "&&" || sign == "and") return "&&";
    if (sign == "||" || sign == "or") return "||";
    return {};
  }

  [[nodiscard]] bool names_label(TSNode node) const {
    if (!api_.node_is_null(child(node, "label"))) return true;
    Cursor cursor(api_, node);
    if (!cursor.down()) return false;
    do {
      const std::string_view type = api_.node_type(cursor.node());
      if (type == "label_name" || type == "label" || type == "loop_label") return true;
    } while (cursor.next());
    return false;
  }

  [[nodiscard]] std::string_view assigned_name(TSNode node) const {
    for (const char* field : {"name", "key", "property", "left"}) {
      if (const auto name = field_text(node, field); !name.empty()) return name;
    }
    return {};
  }

  const Api& api_;
  std::string_view language_;
  std::string_view text_;
  Measures out_;
  std::size_t function_ = 0;  ///< the one that counts now
  std::string scope_;         ///< "Class."
  struct Callable {
    std::string name;
    bool recursive = false;
  };
  std::vector<Callable> callable_;  ///< the functions around, the innermost last
  /// Where the getattr stands that was found to be harmless.
  std::uint32_t named_literally_ = std::numeric_limits<std::uint32_t>::max();
  std::string_view receiver_;  ///< what its method calls itself by, where the language names it
  int tokens_ = 0;             ///< of the statement that is walked
  bool in_function_ = false;
  bool too_deep_ = false;
};

}  // namespace

int Measures::cognitive() const {
  int sum = 0;
  for (const FunctionMeasure& one : functions) sum += one.cognitive;
  return sum;
}

int Measures::nesting() const {
  int deepest = 0;
  for (const FunctionMeasure& one : functions) deepest = std::max(deepest, one.nesting);
  return deepest;
}

int Measures::statements() const {
  int sum = 0;
  for (const FunctionMeasure& one : functions) sum += one.statements;
  return sum;
}

int Measures::longest() const {
  int most = 0;
  for (const FunctionMeasure& one : functions) most = std::max(most, one.longest);
  return most;
}

struct Reader::State {
  Library library;
  Api api;
  std::vector<std::filesystem::path> folders;
  std::map<std::string, const TSLanguage*, std::less<>> grammars;
};

Result<Reader> Reader::open(std::vector<std::filesystem::path> folders) {
  TRY_ASSIGN(Library library, Library::load());
  TRY_ASSIGN(const Api api, Api::bind(library));
  return Reader(std::make_shared<State>(State{library, api, std::move(folders), {}}));
}

Result<Measures> Reader::measure(std::string_view language, std::string_view text) {
  if (!has_table(language))
    return base::fail(ErrorCode::unsupported, "code in " + std::string(language) + " cannot be measured yet");
  if (text.size() > kMostBytes) return base::fail(ErrorCode::parse, "it is over 4 MiB");
  auto found = state_->grammars.find(language);
  if (found == state_->grammars.end()) {
    TRY_ASSIGN(const void* const grammar, state_->library.grammar(language, state_->folders));
    found = state_->grammars.emplace(language, static_cast<const TSLanguage*>(grammar)).first;
  }
  const Api& api = state_->api;
  const std::unique_ptr<TSParser, decltype(api.parser_delete)> parser(api.parser_new(), api.parser_delete);
  if (!api.parser_set_language(parser.get(), found->second))
    return base::fail(ErrorCode::unsupported, "this libtree-sitter does not read the grammar of " + found->first);
  api.parser_set_timeout_micros(parser.get(), kMostMicroseconds);
  const std::unique_ptr<TSTree, decltype(api.tree_delete)> parsed(
      api.parser_parse_string(parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size())),
      api.tree_delete);
  if (!parsed) return base::fail(ErrorCode::parse, "it takes too long to read");
  const TSNode root = api.tree_root_node(parsed.get());
  if (api.node_has_error(root))
    return base::fail(ErrorCode::parse, fmt::format("it is not all {} as the grammar has it", language));
  return Walk(api, language, text).of(root);
}

}  // namespace accelopt::syntax::tree
