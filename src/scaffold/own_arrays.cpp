// SPDX-License-Identifier: Apache-2.0
#include "scaffold/own_arrays.hpp"

#include <map>
#include <regex>
#include <set>

#include "base/expression.hpp"

namespace accelopt::scaffold {
namespace {

constexpr std::size_t kLongestValue = 200;  ///< characters of a macro that may be a length

/// Values of a source's constants, each looked for once.
class Constants {
 public:
  explicit Constants(const std::string& source) : source_(source) {}

  std::optional<std::int64_t> value_of_expression(const std::string& expression) {
    static const std::regex kSuffix(R"(\b(\d+)[uUlL]+\b)");
    const std::string text = std::regex_replace(expression, kSuffix, "$1");
    const auto names = base::expression_names(text);
    if (!names) return std::nullopt;
    std::map<std::string, std::int64_t> values;
    for (const std::string& name : *names) {
      const auto value = value_of_name(name);
      if (!value) return std::nullopt;
      values[name] = *value;
    }
    const auto value = base::evaluate_expression(text, values);
    return value ? std::optional(*value) : std::nullopt;
  }

 private:
  /// Of `#define N (2 * M)`, `constexpr int N = 2 * M;`, `const int n(5);`.
  std::optional<std::int64_t> value_of_name(const std::string& name) {
    const auto [known, is_new] = known_.emplace(name, std::nullopt);  // none where definitions name each other
    if (!is_new) return known->second;
    const std::string word = R"(\b)" + name;
    std::smatch found;
    for (const std::string& form : {R"(#\s*define\s+)" + name + R"([ \t]+(?=\S))", word + R"(\s*=\s*([^=;,}\n]+))",
                                    word + R"(\s*(?:=\s*|\(\s*|\s)(\d{1,9})\b)"}) {
      if (!std::regex_search(source_, found, std::regex(form))) continue;
      std::string value = found[1];
      if (value.empty()) {  // a macro: the rest of its line, since std::regex recurses
        value = found.suffix().str().substr(0, kLongestValue + 1);
        value = value.substr(0, value.find('\n'));
        if (value.size() > kLongestValue) continue;
      }
      known->second = value_of_expression(value);
      if (known->second) break;
    }
    return known->second;
  }

  const std::string& source_;
  std::map<std::string, std::optional<std::int64_t>> known_;
};

}  // namespace

std::optional<std::int64_t> constant_value(const std::string& expression, const std::string& source) {
  return Constants(source).value_of_expression(expression);
}

std::vector<std::int64_t> own_array_lengths(const std::string& source) {
  static const std::regex kDeclared(
      R"((?:(\w+)(?:\s+\**|\*+\s+)|,\s*\**)\w+\s*((?:\[[^\][;{}]+\]\s*)+)(?=[;=,{]|__attribute__))");
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
  Constants constants(source);
  std::vector<std::int64_t> lengths;
  for (const std::string& expression : expressions)
    if (const auto length = constants.value_of_expression(expression)) lengths.push_back(*length);
  return lengths;
}

}  // namespace accelopt::scaffold
