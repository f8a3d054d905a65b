// SPDX-License-Identifier: Apache-2.0
#include "model/special_values.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "model/directives.hpp"
#include "model/user_flags.hpp"

namespace accelopt::model {
namespace {

/// Tokens of an operand that are compared at most: `values[row * columns + column]` has eight.
constexpr std::size_t kLongestOperand = 24;
constexpr std::size_t kLongestComparison = 200;  ///< tokens within `!(...)`

bool is_special_name(std::string_view name) {
  static const std::set<std::string_view> kNames{
      "isnan",       "isinf",          "isfinite",     "isnormal",      "fpclassify", "isnanf",   "isinff",
      "finite",      "finitef",        "isunordered",  "NAN",           "INFINITY",   "HUGE_VAL", "HUGE_VALF",
      "HUGE_VALL",   "infinity",       "quiet_NaN",    "signaling_NaN", "nanf",       "isless",   "isgreater",
      "islessequal", "isgreaterequal", "islessgreater"};
  constexpr std::string_view kBuiltin = "__builtin_";
  if (name.starts_with(kBuiltin)) {
    name.remove_prefix(kBuiltin.size());
    return kNames.contains(name) || name == "inf" || name == "inff" || name == "nan" || name == "nanf" ||
           name == "huge_val" || name == "huge_valf" || name == "isinf_sign";
  }
  return kNames.contains(name);
}

/// Names a special value, and asks no value whether it is one.
bool is_special_constant(std::string_view name) {
  static const std::set<std::string_view> kNames{"NAN",      "INFINITY", "HUGE_VAL",      "HUGE_VALF", "HUGE_VALL",
                                                 "infinity", "nanf",     "quiet_NaN",     "inf",       "inff",
                                                 "huge_val", "nan",      "signaling_NaN", "huge_valf", "huge_vall"};
  constexpr std::string_view kBuiltin = "__builtin_";
  if (name.starts_with(kBuiltin)) name.remove_prefix(kBuiltin.size());
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

/// Choosing the other argument where one is NaN is what they are for; but they are also just a maximum. What signbit
/// and copysign say of NaN holds under any flags.
bool passes_over_nan(std::string_view name) {
  static const std::set<std::string_view> kNames{"fmax",  "fmaxf", "fmaxl", "fmin", "fminf",
                                                 "fminl", "fdim",  "fdimf", "fdiml"};
  constexpr std::string_view kBuiltin = "__builtin_";
  if (name.starts_with(kBuiltin)) name.remove_prefix(kBuiltin.size());
  return kNames.contains(name);
}

bool is_ordering(const Token& token) {
  return token.kind == TokenKind::punctuator &&
         (token.text == "<" || token.text == ">" || token.text == "<=" || token.text == ">=");
}

bool opens(const Token& token) {
  return token.text == "(" || token.text == "[" || token.text == "{";
}
bool closes(const Token& token) {
  return token.text == ")" || token.text == "]" || token.text == "}";
}

/// Whether `!(...)` at `at` has a comparison by order right inside of its parentheses: true where one side is NaN.
bool negates_comparison(const std::vector<Token>& tokens, std::size_t at) {
  if (at + 1 >= tokens.size() || tokens[at].text != "!" || tokens[at + 1].text != "(") return false;
  int depth = 0;
  for (std::size_t i = at + 1; i < std::min(tokens.size(), at + kLongestComparison); ++i) {
    depth += opens(tokens[i]) ? 1 : closes(tokens[i]) ? -1 : 0;
    if (depth == 0) return false;
    if (depth == 1 && is_ordering(tokens[i])) return true;
  }
  return false;
}

/// The tokens from `at` on, one by one in this direction, as long as they belong to the comparison's operand.
std::string operand(const std::vector<Token>& tokens, std::size_t at, int step) {
  static const std::set<std::string_view> kEnds{
      "?", ":", ",", ";", "&&", "||", "=", "+=", "-=", "*=", "/=", "==", "!=", "!", "<", ">", "<=", ">=", "return"};
  std::string text;
  int depth = 0;
  for (std::size_t i = at, taken = 0; i < tokens.size() && taken < kLongestOperand;
       i += static_cast<std::size_t>(step), ++taken) {
    const Token& token = tokens[i];
    depth += opens(token) ? step : closes(token) ? -step : 0;
    if (depth < 0 || (depth == 0 && (kEnds.contains(token.text) || token.kind == TokenKind::preprocessor))) break;
    text = step > 0 ? text + " " + token.text : token.text + " " + text;
  }
  return std::string(base::trimmed(text));
}

bool is_comparison(const Token& token) {
  return is_ordering(token) || token.text == "==" || token.text == "!=";
}

/// Whether the constant at `at`, as in `-std::numeric_limits<float>::infinity()`, is compared with something.
bool is_compared(const std::vector<Token>& tokens, std::size_t at) {
  std::size_t end = at + 1;
  if (end + 1 < tokens.size() && tokens[end].text == "(" && tokens[end + 1].text == ")") end += 2;
  if (end < tokens.size() && is_comparison(tokens[end])) return true;
  std::size_t begin = at;
  while (begin >= 2 && tokens[begin - 1].text == "::") {
    begin -= 2;
    if (tokens[begin].text != ">") continue;
    while (begin > 0 && tokens[begin].text != "<") --begin;
    begin -= begin > 0 ? 1U : 0U;
  }
  while (begin > 0 &&
         (tokens[begin - 1].text == "-" || tokens[begin - 1].text == "+" || tokens[begin - 1].text == "::"))
    --begin;
  return begin > 0 && is_comparison(tokens[begin - 1]);
}

/// Whether the text asks for `a < b` and for `a >= b`, or for `a > b` and `a <= b`: what is neither is NaN.
bool compares_in_three_ways(const std::vector<Token>& tokens) {
  std::set<std::string> asked;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (!is_ordering(tokens[i])) continue;
    const std::string left = operand(tokens, i - 1, -1);
    const std::string right = operand(tokens, i + 1, 1);
    const std::string& op = tokens[i].text;
    const std::string other = op == "<" ? ">=" : op == ">=" ? "<" : op == ">" ? "<=" : ">";
    if (left.empty() || right.empty()) continue;
    if (asked.contains(left + "\n" + other + "\n" + right)) return true;
    asked.insert(left + "\n" + op + "\n" + right);
  }
  return false;
}

/// The names of values in [begin, end), without indices: `v[i]` is of v.
void collect_names(const std::vector<Token>& tokens, std::size_t begin, std::size_t end, std::set<std::string>& names) {
  static const std::set<std::string_view> kNoValues{"const", "auto", "float",    "double", "int", "long", "short",
                                                    "char",  "void", "unsigned", "signed", "std", "bool", "return"};
  int brackets = 0;
  for (std::size_t i = begin; i < std::min(end, tokens.size()); ++i) {
    brackets += tokens[i].text == "[" ? 1 : tokens[i].text == "]" ? -1 : 0;
    const bool is_called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
    if (brackets == 0 && tokens[i].kind == TokenKind::identifier && !is_called && !kNoValues.contains(tokens[i].text))
      names.insert(tokens[i].text);
  }
}

void collect_names(std::string_view text, std::set<std::string>& names) {
  const std::vector<Token> tokens = c_tokens(text);
  collect_names(tokens, 0, tokens.size(), names);
}

/// Behind the bracket that closes the one at `at`.
std::size_t behind_closing(const std::vector<Token>& tokens, std::size_t at) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    depth += opens(tokens[at]) ? 1 : closes(tokens[at]) ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return at;
}

/// Whether `std::numeric_limits<float>::infinity()` or the like stands at `at`.
bool is_of_limits(const std::vector<Token>& tokens, std::size_t at) {
  while (at < tokens.size() && (tokens[at].text == "-" || tokens[at].text == "std" || tokens[at].text == "::")) ++at;
  return at + 5 < tokens.size() && tokens[at].text == "numeric_limits" && is_special_constant(tokens[at + 5].text);
}

/// What is assigned to the names, by `=` and the like, or passed to a function by one of them, as a helper's parameter.
void collect_sources(const std::vector<Token>& tokens, std::set<std::string>& names) {
  static const std::set<std::string_view> kControls{"if", "for", "while", "switch"};
  static const std::set<std::string_view> kAssigns{"=", "+=", "-=", "*=", "/="};
  const auto is_known = [&](const std::string& name) { return names.contains(name); };
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    std::set<std::string> found;
    if (kAssigns.contains(tokens[i].text)) {
      collect_names(operand(tokens, i - 1, -1), found);
      if (std::ranges::none_of(found, is_known)) continue;
      std::size_t end = i + 1;
      while (end < tokens.size() && tokens[end].text != ";" && !closes(tokens[end]))
        end = opens(tokens[end]) ? behind_closing(tokens, end) : end + 1;
      collect_names(tokens, i + 1, end, names);
    } else if (tokens[i].text == "(" && tokens[i - 1].kind == TokenKind::identifier &&
               !kControls.contains(tokens[i - 1].text)) {
      const std::size_t end = behind_closing(tokens, i);
      const std::string& function = tokens[i - 1].text;
      collect_names(tokens, i, end, found);
      const bool is_of_known = std::ranges::any_of(found, is_known);
      if (end < tokens.size() && tokens[end].text == "{") {  // a definition
        if (is_of_known) names.insert(function);
      } else if (names.contains(function) || (function == "memcpy" && is_of_known)) {
        collect_names(tokens, i, end, names);
      }
    }
  }
}

/// The words of a preprocessor's line: any number of `#` may stand before them, and each would be a line of its own.
std::string_view behind_hashes(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
  return line;
}

bool is_exponent_mask(const Token& token) {
  static const std::set<std::string_view> kMasks{
      "0x7f800000",         "0xff800000", "0x7ff00000", "0xfff00000", "0x7ff0000000000000",
      "0xfff0000000000000", "0x7f80",     "0xff80",     "0x7c00",     "0xfc00"};
  if (token.kind != TokenKind::number) return false;
  std::string digits;
  for (const char c : token.text) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower != '\'' && lower != 'u' && lower != 'l') digits += lower;
  }
  return kMasks.contains(digits);
}

bool is_number(const Token& token, double value) {
  return token.kind == TokenKind::number && std::strtod(token.text.c_str(), nullptr) == value;
}

/// Names that are given such a mask: `const uint32_t kExponent = 0x7f800000u`, `#define EXPONENT 0x7f800000u`.
std::set<std::string> names_of_masks(const std::vector<Token>& tokens) {
  std::set<std::string> names;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool is_given = tokens[i + 1].text == "=" || tokens[i + 1].text == "{";
    if (is_given && is_exponent_mask(tokens[i + 2])) names.insert(tokens[i].text);
  }
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::preprocessor) continue;
    const std::vector<Token> line = c_tokens(behind_hashes(token.text));
    if (line.size() > 2 && line[0].text == "define" && std::ranges::any_of(line, is_exponent_mask))
      names.insert(line[1].text);
  }
  return names;
}

/// Whether the bits of an exponent are all shifted down: of float by 23, of double by 52.
bool shifts_exponent(const std::vector<Token>& tokens, double by) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].text == ">>" && is_number(tokens[i + 1], by)) return true;
  return false;
}

/// Whether one side of the comparison at `at` is about the exponent that NaN and infinity have: `(u & 0x7f800000) ==`.
bool compares_exponent(const std::vector<Token>& tokens, std::size_t at, const std::set<std::string>& masks) {
  const bool for_equality = !is_ordering(tokens[at]);
  const auto is_of_exponent = [&](const Token& token) {
    if (is_exponent_mask(token) || masks.contains(token.text)) return true;
    if (!for_equality) return false;
    return (is_number(token, 0xff) && shifts_exponent(tokens, 23)) ||
           (is_number(token, 0x7ff) && shifts_exponent(tokens, 52));
  };
  // An exponent of zero is that of numbers near to zero, unless its bits were inverted: `(~u & 0x7f800000) == 0`.
  const auto asks = [&](const std::vector<Token>& side, const std::vector<Token>& other) {
    const bool is_inverted =
        std::ranges::any_of(side, [](const Token& one) { return one.text == "~" || one.text == "^"; });
    const bool is_zero = other.size() == 1 && is_number(other.front(), 0);
    return std::ranges::any_of(side, is_of_exponent) && (is_inverted || !is_zero);
  };
  const std::vector<Token> left = c_tokens(operand(tokens, at - 1, -1));
  const std::vector<Token> right = c_tokens(operand(tokens, at + 1, 1));
  return asks(left, right) || asks(right, left);
}

/// Whether one side of the comparison at `at` is `v * 0`, which is zero unless v is NaN or infinite.
bool compares_times_zero(const std::vector<Token>& tokens, std::size_t at) {
  if (is_ordering(tokens[at])) return false;
  const auto has = [](const std::vector<Token>& side) {
    for (std::size_t i = 1; i + 1 < side.size(); ++i)
      if (side[i].text == "*" && (is_number(side[i - 1], 0) || is_number(side[i + 1], 0))) return true;
    return false;
  };
  return has(c_tokens(operand(tokens, at - 1, -1))) || has(c_tokens(operand(tokens, at + 1, 1)));
}

/// Whether the largest finite value stands at `at`: FLT_MAX, `std::numeric_limits<float>::max()`.
bool is_largest(const std::vector<Token>& tokens, std::size_t at) {
  static const std::set<std::string_view> kNames{"FLT_MAX", "DBL_MAX", "__FLT_MAX__", "__DBL_MAX__"};
  constexpr double kAboutLargestFloat = 3.4e38;
  const Token& token = tokens[at];
  if (kNames.contains(token.text)) return true;
  if (token.kind == TokenKind::number) return std::strtod(token.text.c_str(), nullptr) >= kAboutLargestFloat;
  if (at < 5 || (token.text != "max" && token.text != "lowest")) return false;
  return tokens[at - 5].text == "numeric_limits" &&
         (tokens[at - 3].text == "float" || tokens[at - 3].text == "double") && tokens[at - 1].text == "::";
}

/// What is compared by order with the largest finite value at `at`, as `fabsf(v) > FLT_MAX`.
std::set<std::string> names_beside_largest(const std::vector<Token>& tokens, std::size_t at) {
  std::set<std::string> names;
  if (!is_largest(tokens, at)) return names;
  std::size_t behind = at + 1;
  if (behind + 1 < tokens.size() && tokens[behind].text == "(") behind += 2;
  if (behind + 1 < tokens.size() && is_ordering(tokens[behind])) collect_names(operand(tokens, behind + 1, 1), names);
  std::size_t before = tokens[at].text == "max" || tokens[at].text == "lowest" ? at - 5 : at;
  while (before > 0 && (tokens[before - 1].text == "-" || tokens[before - 1].text == "::" ||
                        tokens[before - 1].text == "std" || tokens[before - 1].text == "("))
    --before;
  if (before > 1 && is_ordering(tokens[before - 1])) collect_names(operand(tokens, before - 2, -1), names);
  return names;
}

/// Where the statement around `at` begins, and behind its end.
std::pair<std::size_t, std::size_t> statement_around(const std::vector<Token>& tokens, std::size_t at) {
  const auto ends = [&](std::size_t place) {
    return tokens[place].text == ";" || tokens[place].text == "{" || tokens[place].text == "}";
  };
  std::size_t begin = at;
  while (begin > 0 && !ends(begin - 1)) --begin;
  while (at < tokens.size() && !ends(at)) ++at;
  return {begin, at};
}

/// What is compared with the largest finite value, without what begins there, as a minimum: `best = FLT_MAX`.
std::set<std::string> names_asked_for_overflow(const std::vector<Token>& tokens) {
  std::set<std::string> compared;
  std::set<std::pair<std::size_t, std::size_t>> asking;
  std::set<std::pair<std::size_t, std::size_t>> giving;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_largest(tokens, i)) continue;
    const std::set<std::string> beside = names_beside_largest(tokens, i);
    (beside.empty() ? giving : asking).insert(statement_around(tokens, i));
    compared.insert(beside.begin(), beside.end());
  }
  std::set<std::string> begun;
  for (const auto& [begin, end] : giving)
    if (!asking.contains({begin, end})) collect_names(tokens, begin, end, begun);
  std::set<std::string> names;
  for (const std::string& name : compared) {
    std::set<std::string> sources{name};
    for (std::size_t known = 0; known != sources.size();) {
      known = sources.size();
      collect_sources(tokens, sources);
    }
    if (std::ranges::none_of(sources, [&](const std::string& one) { return begun.contains(one); })) names.insert(name);
  }
  return names;
}

/// Whether the operator at `at` asks for NaN or infinity and names neither: by bits, `v - v`, or `v * 0 != 0`.
bool asks_without_name(const std::vector<Token>& tokens, std::size_t at, const std::set<std::string>& masks) {
  if (at == 0 || at + 1 >= tokens.size() || tokens[at].kind != TokenKind::punctuator) return false;
  if (tokens[at].text == "-") return compares_with_itself(tokens, at);
  return is_comparison(tokens[at]) && (compares_exponent(tokens, at, masks) || compares_times_zero(tokens, at));
}

/// What the question at `at` is about; nothing where there is none.
std::set<std::string> names_in_question(const std::vector<Token>& tokens, std::size_t at,
                                        const std::set<std::string>& masks) {
  std::set<std::string> names;
  const Token& token = tokens[at];
  if (token.kind == TokenKind::identifier && is_special_name(token.text) && !is_special_constant(token.text))
    collect_names(tokens, at + 1, behind_closing(tokens, at + 1), names);
  const bool without_name = asks_without_name(tokens, at, masks);
  if ((!is_comparison(token) && !without_name) || at == 0 || at + 1 >= tokens.size()) return names;
  const std::string left = operand(tokens, at - 1, -1);
  const std::string right = operand(tokens, at + 1, 1);
  std::set<std::string> compared;
  collect_names(left, compared);
  collect_names(right, compared);
  const bool itself = left == right && !is_ordering(token);
  const auto names_special = [&](const std::string& side) {
    return std::ranges::any_of(c_tokens(side), [](const Token& one) { return is_special_constant(one.text); });
  };
  if (without_name || itself || names_special(left) || names_special(right) || is_of_limits(tokens, at + 1))
    names.merge(compared);
  return names;
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

/// Whether `optimize` at `at` is an attribute or a pragma, or goes into a macro.
bool names_options(const std::vector<Token>& tokens, std::size_t at) {
  const Token& token = tokens[at];
  if (token.kind != TokenKind::identifier || (token.text != "optimize" && token.text != "__optimize__")) return false;
  if (tokens.front().text == "define") return true;
  if (at == 0 || tokens[at - 1].text == "GCC") return at > 0;
  const std::string& before = tokens[at - 1].text;
  const bool is_of_gnu = at > 1 && (tokens[at - 2].text == "gnu" || tokens[at - 2].text == "__gnu__");
  const bool may_be_attribute = before == "(" || before == "," || ((before == ":" || before == "::") && is_of_gnu);
  return may_be_attribute && at + 1 < tokens.size() && tokens[at + 1].text == "(";
}

/// Whether only numbers and plain strings stand from `at` on, with commas between them: `("O3", "fast-math")`.
bool are_plain_options(const std::vector<Token>& tokens, std::size_t at) {
  if (at < tokens.size() && tokens[at].text == "(") ++at;
  for (; at < tokens.size(); at += 2) {
    const bool is_string = tokens[at].kind == TokenKind::string && tokens[at].text.find('\\') == std::string::npos;
    if (!is_string && tokens[at].kind != TokenKind::number) return false;
    if (at + 1 == tokens.size() || tokens[at + 1].text == ")") return true;
    if (tokens[at + 1].text != ",") return false;  // strings in a row are one to the compiler
  }
  return false;
}

/// The text of a string literal, as far as the options of a pragma need it.
std::string unquoted(std::string_view literal) {
  std::string text;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] == '\\' && i + 2 < literal.size()) ++i;
    text += literal[i];
  }
  return text;
}

/// Whether options are given that stand nowhere in the text, as in `optimize(TEXT_OF(fast-math))`.
bool hides_options(std::string_view text) {
  const std::vector<Token> tokens = c_tokens(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::preprocessor && hides_options(behind_hashes(tokens[i].text))) return true;
    if (names_options(tokens, i) && !are_plain_options(tokens, i + 1)) return true;
    const bool is_pragma = tokens[i].text == "_Pragma" && i + 2 < tokens.size();
    if (is_pragma && tokens[i + 2].kind == TokenKind::string && hides_options(unquoted(tokens[i + 2].text)))
      return true;
  }
  return false;
}

}  // namespace

std::string special_value_named(std::string_view source) {
  const std::vector<Token> tokens = c_tokens(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::preprocessor) {
      std::string inner = special_value_named(behind_hashes(token.text));
      if (!inner.empty()) return inner;
    }
    if (token.kind == TokenKind::identifier && is_special_name(token.text)) return token.text;
    if ((token.text == "!=" || token.text == "==") && compares_with_itself(tokens, i))
      return "a value compared with itself";
  }
  return "";
}

bool may_handle_nan(std::string_view source) {
  const std::vector<Token> tokens = c_tokens(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::preprocessor && may_handle_nan(behind_hashes(token.text))) return true;
    if (token.kind == TokenKind::identifier && passes_over_nan(token.text)) return true;
    if (negates_comparison(tokens, i)) return true;
  }
  return compares_in_three_ways(tokens) || !special_value_named(source).empty() ||
         special_values_asked(source) != SpecialValues::not_asked;
}

SpecialValues special_values_asked(std::string_view source) {
  const std::vector<Token> tokens = c_tokens(source);
  if (!names_asked_for_overflow(tokens).empty()) return SpecialValues::asked;
  const std::set<std::string> masks = names_of_masks(tokens);
  SpecialValues out = compares_in_three_ways(tokens) ? SpecialValues::maybe_nan : SpecialValues::not_asked;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::preprocessor) out = std::max(out, special_values_asked(behind_hashes(token.text)));
    const bool is_name = token.kind == TokenKind::identifier && is_special_name(token.text);
    if (is_name && (!is_special_constant(token.text) || is_compared(tokens, i))) return SpecialValues::asked;
    if ((token.text == "!=" || token.text == "==") && compares_with_itself(tokens, i)) return SpecialValues::asked;
    if (asks_without_name(tokens, i, masks)) return SpecialValues::asked;
    const bool passes_over = token.kind == TokenKind::identifier && passes_over_nan(token.text);
    if (passes_over || negates_comparison(tokens, i)) out = std::max(out, SpecialValues::maybe_nan);
  }
  return out;
}

std::set<std::string> names_asked_for_special_values(std::string_view source) {
  const std::vector<Token> tokens = c_tokens(source);
  const std::set<std::string> masks = names_of_masks(tokens);
  std::set<std::string> names = names_asked_for_overflow(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) names.merge(names_in_question(tokens, i, masks));
  for (std::size_t known = 0; known != names.size();) {
    known = names.size();
    collect_sources(tokens, names);
  }
  return names;
}

bool asks_for_finite_math(std::string_view source) {
  if (hides_options(source)) return true;
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

bool is_built_with_finite_math(const Solution& solution) {
  const std::string& text = main_text(solution);
  if (asks_for_finite_math(text)) return true;
  std::vector<std::string> flags = user_flags_of(solution).value_or(std::vector<std::string>());
  if (const auto own = parse_cpu_directives(text)) flags.insert(flags.end(), own->flags.begin(), own->flags.end());
  return assumes_finite_math(flags);
}

}  // namespace accelopt::model
