// SPDX-License-Identifier: Apache-2.0
#include "scaffold/null_tests.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "model/c_tokens.hpp"
#include "scaffold/parameter_type.hpp"

namespace accelopt::scaffold {
namespace {

using Tokens = std::vector<model::Token>;

/// The text so many tokens from `at`; empty: beyond the ends.
std::string_view text_at(const Tokens& tokens, std::size_t at, int distance) {
  const std::size_t place = at + static_cast<std::size_t>(distance);
  return place < tokens.size() ? std::string_view(tokens[place].text) : "";
}

bool is_null(std::string_view text) {
  return text == "NULL" || text == "nullptr" || text == "0";
}

bool is_equality(std::string_view text) {
  return text == "==" || text == "!=";
}

/// Whether the pointer at `at` is compared with null there, or taken for a truth value.
bool is_tested_at(const Tokens& tokens, std::size_t at) {
  static const std::set<std::string_view> kBegins{"(", "=", "return", ";", ",", "&&", "||"};
  static const std::set<std::string_view> kTakesTruth{"if", "while", "bool", "_Bool", "assert"};
  static const std::set<std::string_view> kReads{"[", "->", "."};
  const auto text = [&](int distance) { return text_at(tokens, at, distance); };
  if (kReads.contains(text(1)) || text(-1) == "*") return false;  // of what it points to
  if (text(-1) == "!" || text(1) == "?") return true;
  if (is_equality(text(1)) && is_null(text(2))) return true;
  if (is_equality(text(-1)) && is_null(text(-2))) return true;
  const bool goes_on = text(1) == "&&" || text(1) == "||";
  if (goes_on && kBegins.contains(text(-1))) return true;
  const bool went_on = text(-1) == "&&" || text(-1) == "||";
  if (went_on && (text(1) == ")" || text(1) == ";")) return true;
  if (text(-1) == "(" && text(1) == ")")
    return kTakesTruth.contains(text(-2)) || (text(-2) == ">" && text(-3) == "bool");
  return text(-1) == "=" && (text(-3) == "bool" || text(-3) == "_Bool");
}

/// A call with the pointer as a whole argument.
struct Passed {
  std::string callee;  ///< empty: it is not passed there
  std::size_t argument = 0;
};

Passed passed_at(const Tokens& tokens, std::size_t at) {
  const std::string_view before = text_at(tokens, at, -1);
  const std::string_view behind = text_at(tokens, at, 1);
  if ((before != "(" && before != ",") || (behind != ")" && behind != ",")) return {};
  Passed passed;
  int depth = 0;
  for (std::size_t i = at; i-- > 1;) {
    const std::string& text = tokens[i].text;
    if (text == ";" || text == "{" || text == "}") return {};
    if (text == ")" || text == "]") ++depth;
    if (text == "," && depth == 0) ++passed.argument;
    if (text != "(" && text != "[") continue;
    if (depth-- > 0) continue;
    if (text == "(" && tokens[i - 1].kind == model::TokenKind::identifier) passed.callee = tokens[i - 1].text;
    return passed;
  }
  return {};
}

class Search {
 public:
  explicit Search(const syntax::Unit& unit) : unit_(unit), file_(model::c_tokens(unit.source)) {}

  bool finds(const syntax::Function& function, std::size_t parameter) {
    if (parameter >= function.parameters.size() || !looked_at_.insert({&function, parameter}).second) return false;
    const Tokens tokens = model::c_tokens(unit_.text(function.body));
    std::set<std::string> names{function.parameters[parameter].name};
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      const std::string_view before = tokens[i - 1].text;
      if (!names.contains(tokens[i].text) || before == "." || before == "->") continue;
      if (is_tested_at(tokens, i)) return true;
      if (i > 1 && before == "=" && text_at(tokens, i, 1) == ";") names.insert(tokens[i - 2].text);
      const Passed passed = passed_at(tokens, i);
      if (passed.callee.empty()) continue;
      const syntax::Function* const helper = unit_.find(passed.callee);
      if (helper != nullptr ? finds(*helper, passed.argument) : is_testing_macro(passed.callee)) return true;
    }
    return false;
  }

 private:
  /// Whether the file defines a macro of that name that may test an argument.
  [[nodiscard]] bool is_testing_macro(const std::string& name) const {
    return std::ranges::any_of(file_, [&](const model::Token& line) {
      if (line.kind != model::TokenKind::preprocessor || !line.text.starts_with('#')) return false;
      const Tokens tokens = model::c_tokens(std::string_view(line.text).substr(1));
      if (tokens.size() < 3 || tokens[0].text != "define" || tokens[1].text != name) return false;
      return std::ranges::any_of(tokens, [](const model::Token& token) {
        return is_null(token.text) || token.text == "!" || token.text == "?" || token.text == "if";
      });
    });
  }

  const syntax::Unit& unit_;
  Tokens file_;
  std::set<std::pair<const syntax::Function*, std::size_t>> looked_at_;
};

}  // namespace

std::vector<std::string> parameters_tested_for_null(const syntax::Unit& unit, const syntax::Function& function) {
  std::vector<std::string> found;
  Search search(unit);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const ParameterForm form = type_of(unit, function.parameters[i]).form;
    const bool is_pointer = form == ParameterForm::pointer || form == ParameterForm::array_pointer;
    if (is_pointer && search.finds(function, i)) found.push_back(function.parameters[i].name);
  }
  return found;
}

}  // namespace accelopt::scaffold
