// SPDX-License-Identifier: Apache-2.0
#include "scaffold/own_arrays.hpp"

#include <map>
#include <regex>
#include <set>

#include "base/expression.hpp"

namespace accelopt::scaffold {
namespace {

/// So many definitions may name each other; more are taken for a circle.
constexpr int kMostDefinitions = 8;

std::optional<std::int64_t> value_of_expression(const std::string& expression, const std::string& source,
                                                int definitions);

/// The value of a name that the source defines: `#define N (2 * M)`, `constexpr int N = 2 * M;`, `const int n(5);`.
std::optional<std::int64_t> value_of_name(const std::string& name, const std::string& source, int definitions) {
  if (definitions == 0) return std::nullopt;
  const std::string word = R"(\b)" + name;
  std::smatch found;
  for (const std::string& form : {R"(#\s*define\s+)" + name + R"([ \t]+([^\n]+))", word + R"(\s*=\s*([^=;,}\n]+))",
                                  word + R"(\s*(?:=\s*|\(\s*|\s)(\d{1,9})\b)"}) {
    if (!std::regex_search(source, found, std::regex(form))) continue;
    if (const auto value = value_of_expression(found[1], source, definitions - 1)) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> value_of_expression(const std::string& expression, const std::string& source,
                                                int definitions) {
  static const std::regex kSuffix(R"(\b(\d+)[uUlL]+\b)");
  const std::string text = std::regex_replace(expression, kSuffix, "$1");
  const auto names = base::expression_names(text);
  if (!names) return std::nullopt;
  std::map<std::string, std::int64_t> values;
  for (const std::string& name : *names) {
    const auto value = value_of_name(name, source, definitions);
    if (!value) return std::nullopt;
    values[name] = *value;
  }
  const auto value = base::evaluate_expression(text, values);
  return value ? std::optional(*value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> constant_value(const std::string& expression, const std::string& source) {
  return value_of_expression(expression, source, kMostDefinitions);
}

std::vector<std::int64_t> own_array_lengths(const std::string& source) {
  static const std::regex kDeclared(R"((?:(\w+)\s+|,\s*)\**\s*\w+\s*((?:\[[^\][;{}]+\]\s*)+)(?=[;=,{]|__attribute__))");
  static const std::regex kBrackets(R"(\[([^\]]+)\])");
  static const std::regex kStandard(R"(\barray\s*<[^<>;(){}]*,\s*([^<>;{},]+)>)");
  static const std::set<std::string> kNoTypes = {"return", "else", "case", "do", "goto", "throw", "delete"};
  std::set<std::string> expressions;
  for (std::sregex_iterator at(source.begin(), source.end(), kDeclared), end; at != end; ++at) {
    if (kNoTypes.contains((*at)[1])) continue;
    const std::string brackets = (*at)[2];
    for (std::sregex_iterator one(brackets.begin(), brackets.end(), kBrackets); one != end; ++one)
      expressions.insert((*one)[1]);
  }
  for (std::sregex_iterator at(source.begin(), source.end(), kStandard), end; at != end; ++at)
    expressions.insert((*at)[1]);
  std::vector<std::int64_t> lengths;
  for (const std::string& expression : expressions)
    if (const auto length = constant_value(expression, source)) lengths.push_back(*length);
  return lengths;
}

}  // namespace accelopt::scaffold
