// SPDX-License-Identifier: Apache-2.0
#include "model/special_values.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "model/c_tokens.hpp"

namespace accelopt::model {
namespace {

/// Tokens of an operand that are compared at most: `values[row * columns + column]` has eight.
constexpr std::size_t kLongestOperand = 24;

bool is_special_name(std::string_view name) {
  static const std::set<std::string_view> kNames{"isnan",    "isinf",     "isfinite",     "isnormal",  "fpclassify",
                                                 "isnanf",   "isinff",    "finite",       "finitef",   "isunordered",
                                                 "NAN",      "INFINITY",  "HUGE_VAL",     "HUGE_VALF", "HUGE_VALL",
                                                 "infinity", "quiet_NaN", "signaling_NaN"};
  constexpr std::string_view kBuiltin = "__builtin_";
  if (name.starts_with(kBuiltin)) {
    name.remove_prefix(kBuiltin.size());
    return kNames.contains(name) || name == "inf" || name == "inff" || name == "nan" || name == "nanf" ||
           name == "huge_val" || name == "huge_valf" || name == "isinf_sign";
  }
  return kNames.contains(name);
}

bool begins_operand(const Token& token) {
  return token.kind == TokenKind::identifier || token.text == "(" || token.text == "*";
}

bool ends_operand(const Token& token) {
  return token.kind == TokenKind::identifier || token.text == ")" || token.text == "]";
}

/// Whether the operator at `at` has the same text on both sides, whole operands by what stands around them.
bool compares_with_itself(const std::vector<Token>& tokens, std::size_t at) {
  static const std::set<std::string_view> kGoesOn{".", "->", "[", "(", "+", "-", "*", "/", "%", "<<", ">>", "::"};
  for (std::size_t length = 1; length <= std::min(kLongestOperand, at) && at + length < tokens.size(); ++length) {
    const std::size_t begin = at - length;
    const bool same = std::equal(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                 tokens.begin() + static_cast<std::ptrdiff_t>(at),
                                 tokens.begin() + static_cast<std::ptrdiff_t>(at + 1),
                                 [](const Token& one, const Token& other) { return one.text == other.text; });
    if (!same || !begins_operand(tokens[begin]) || !ends_operand(tokens[at - 1])) continue;
    const bool whole_before = begin == 0 || tokens[begin - 1].text == "(" || !kGoesOn.contains(tokens[begin - 1].text);
    const bool whole_behind = at + length + 1 == tokens.size() || !kGoesOn.contains(tokens[at + length + 1].text);
    if (whole_before && whole_behind) return true;
  }
  return false;
}

/// Whether the options in a text, as "fast-math", leave finite math assumed: the last one that says something of it.
bool assumes_after(std::string_view text, bool assumes) {
  const auto is_of_option = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_of_option);
    std::string_view option = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(std::max<std::size_t>(option.size(), 1));
    if (option.starts_with("-f")) option.remove_prefix(2);
    if (option == "fast-math" || option == "finite-math-only" || option == "Ofast" || option == "-Ofast")
      assumes = true;
    if (option == "no-finite-math-only" || option == "no-fast-math") assumes = false;
  }
  return assumes;
}

}  // namespace

std::string special_value_named(std::string_view source) {
  const std::vector<Token> tokens = c_tokens(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::preprocessor && token.text.size() > 1) {
      std::string inner = special_value_named(std::string_view(token.text).substr(1));
      if (!inner.empty()) return inner;
    }
    if (token.kind == TokenKind::identifier && is_special_name(token.text)) return token.text;
    if ((token.text == "!=" || token.text == "==") && compares_with_itself(tokens, i))
      return "a value compared with itself";
  }
  return "";
}

bool asks_for_finite_math(std::string_view source) {
  bool assumes = false;
  for (const Token& token : c_tokens(source)) {
    if (token.kind != TokenKind::string && token.kind != TokenKind::preprocessor) {
      if (assumes && token.text != ",") return true;  // of strings in a row, as in an attribute, the last one holds
      continue;
    }
    if (token.kind == TokenKind::preprocessor && assumes) return true;
    assumes = assumes_after(token.text, assumes);
  }
  return assumes;
}

bool assumes_finite_math(const std::vector<std::string>& flags) {
  bool assumes = false;
  for (const std::string& flag : flags) {
    if (flag == "-ffast-math" || flag == "-Ofast" || flag == "-ffinite-math-only") assumes = true;
    if (flag == "-fno-finite-math-only" || flag == "-fno-fast-math") assumes = false;
  }
  return assumes;
}

}  // namespace accelopt::model
