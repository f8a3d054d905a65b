// SPDX-License-Identifier: Apache-2.0
#include "model/init.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "base/expression.hpp"
#include "base/names.hpp"
#include "base/text.hpp"

namespace accelopt::model {
namespace {

/// Arguments of `values`: any number of numbers.
constexpr std::size_t kAnyNumber = 3;

struct Generator {
  InitKind kind;
  std::string_view name;
  std::size_t arguments;
};

constexpr std::array kGenerators{
    Generator{InitKind::normal, "normal", 2},     Generator{InitKind::abs_normal, "abs_normal", 2},
    Generator{InitKind::uniform, "uniform", 2},   Generator{InitKind::integers, "integers", 2},
    Generator{InitKind::zeros, "zeros", 0},       Generator{InitKind::ones, "ones", 0},
    Generator{InitKind::constant, "constant", 1}, Generator{InitKind::permutation, "permutation", 0},
    Generator{InitKind::indptr, "indptr", 1},     Generator{InitKind::sorted, "sorted", 2},
    Generator{InitKind::distinct, "distinct", 2}, Generator{InitKind::values, "values", kAnyNumber},
};

constexpr auto kFamilies = std::to_array<base::Named<Family>>({{Family::as_declared, "as_declared"},
                                                               {Family::positive, "positive"},
                                                               {Family::scaled_up, "scaled_up"},
                                                               {Family::scaled_down, "scaled_down"},
                                                               {Family::heavy, "heavy"},
                                                               {Family::sparse, "sparse"},
                                                               {Family::rows, "rows"},
                                                               {Family::late, "late"},
                                                               {Family::blocks, "blocks"},
                                                               {Family::signed_zeros, "signed_zeros"},
                                                               {Family::near_ties, "near_ties"},
                                                               {Family::extremes, "extremes"},
                                                               {Family::outliers, "outliers"},
                                                               {Family::coarse, "coarse"}});

constexpr std::string_view kForms =
    "normal(mean, deviation), abs_normal(mean, deviation), uniform(low, high), integers(low, high), zeros, ones, "
    "constant(value), "
    "permutation, indptr(total), sorted(low, high), distinct(low, high), values(a, b, ...)";

/// The arguments between the commas that stand in no parentheses; none: a parenthesis lacks its partner.
std::optional<std::vector<std::string_view>> split_arguments(std::string_view text) {
  std::vector<std::string_view> arguments;
  if (base::trimmed(text).empty()) return arguments;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')' && --depth < 0) return std::nullopt;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    arguments.push_back(base::trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (depth != 0) return std::nullopt;
  return arguments;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A whole number from -2^63 to 2^64, modulo 2^64.
std::uint64_t modulo_bits(double whole) {
  if (whole < 0) return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
  return whole < 0x1p64 ? static_cast<std::uint64_t>(whole) : 0;
}

/// What the nearest double lacks of the whole number that the text is: 0 of what is none of 64 bits.
std::int64_t rest_of(std::string_view text, double nearest) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  std::uint64_t magnitude = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
  const bool is_whole = problem == std::errc{} && end == text.data() + text.size();
  if (!is_whole || (is_negative && magnitude > std::uint64_t{1} << 63)) return 0;
  return static_cast<std::int64_t>((is_negative ? 0 - magnitude : magnitude) - modulo_bits(nearest));
}

/// Whether all arguments could be read.
bool read_arguments(const std::vector<std::string_view>& arguments, InitSpec& spec) {
  if (spec.kind == InitKind::values) {
    for (const std::string_view argument : arguments) {
      const auto number = parse_number(argument);
      if (!number) return false;
      spec.values.push_back(*number);
    }
    return !arguments.empty() && arguments.size() <= kMostInitValues;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    double& target = i == 0 ? spec.first : spec.second;
    if (const auto number = parse_number(arguments[i])) {
      target = *number;
      if (spec.kind == InitKind::integers) spec.rest.at(i) = rest_of(arguments[i], *number);
    } else if (!base::expression_fault(arguments[i])) {
      spec.expressions.at(i) = arguments[i];
    } else {
      return false;
    }
  }
  return true;
}

std::string shortest(double value) {
  char buffer[32];
  const auto [end, problem] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::string number_of(const InitSpec& spec, std::size_t place) {
  const double nearest = place == 0 ? spec.first : spec.second;
  if (spec.rest.at(place) == 0) return shortest(nearest);
  const std::uint64_t whole = whole_argument(spec, place);
  return nearest < 0 ? std::to_string(static_cast<std::int64_t>(whole)) : std::to_string(whole);
}

}  // namespace

base::Result<InitSpec> parse_init(std::string_view text) {
  const auto refuse = [&] {
    return base::fail(base::ErrorCode::parse,
                      "cannot read \"" + std::string(text) + "\" as a generator; write one of " + std::string(kForms));
  };
  const std::string_view whole = base::trimmed(text);
  const auto open = whole.find('(');
  const std::string_view name = base::trimmed(whole.substr(0, open));
  std::vector<std::string_view> arguments;
  if (open != std::string_view::npos) {
    if (whole.back() != ')') return refuse();
    const auto split = split_arguments(whole.substr(open + 1, whole.size() - open - 2));
    if (!split) return refuse();
    arguments = *split;
  }
  for (const Generator& generator : kGenerators) {
    if (generator.name != name) continue;
    if (generator.arguments != kAnyNumber && arguments.size() != generator.arguments) return refuse();
    InitSpec spec{generator.kind};
    if (!read_arguments(arguments, spec)) return refuse();
    return spec;
  }
  return refuse();
}

std::string to_string(const InitSpec& spec) {
  const auto argument = [&](std::size_t place) {
    const std::string& expression = spec.expressions.at(place);
    return expression.empty() ? number_of(spec, place) : expression;
  };
  for (const Generator& generator : kGenerators) {
    if (generator.kind != spec.kind) continue;
    std::string text(generator.name);
    if (generator.arguments == 1) text += "(" + argument(0) + ")";
    if (generator.arguments == 2) text += "(" + argument(0) + ", " + argument(1) + ")";
    if (generator.arguments == kAnyNumber) text += "(" + base::joined(spec.values, ", ", &shortest) + ")";
    return text;
  }
  ACCELOPT_ASSERT(false, "an InitKind without a generator");
}

base::Result<InitSpec> bound(const InitSpec& spec, const std::map<std::string, std::int64_t>& axes) {
  InitSpec out = spec;
  for (std::size_t i = 0; i < out.expressions.size(); ++i) {
    std::string& expression = out.expressions.at(i);
    if (expression.empty()) continue;
    TRY_ASSIGN(const std::int64_t value, base::evaluate_expression(expression, axes));
    const auto nearest = static_cast<double>(value);
    (i == 0 ? out.first : out.second) = nearest;
    if (out.kind == InitKind::integers)
      out.rest.at(i) = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - modulo_bits(nearest));
    expression.clear();
  }
  return out;
}

std::uint64_t whole_argument(const InitSpec& spec, std::size_t place) {
  return modulo_bits(place == 0 ? spec.first : spec.second) + static_cast<std::uint64_t>(spec.rest.at(place));
}

bool is_ascending(const InitSpec& spec) {
  return spec.first < spec.second || (spec.first == spec.second && spec.rest[0] < spec.rest[1]);
}

bool draws_whole_rows(InitKind kind) {
  return kind == InitKind::permutation || kind == InitKind::indptr || kind == InitKind::sorted ||
         kind == InitKind::distinct || kind == InitKind::values;
}

std::string_view to_string(Family family) {
  return base::name_in(kFamilies, family);
}

base::Result<std::vector<Family>> parse_family(std::string_view name) {
  if (name == "scaled") return std::vector{Family::scaled_up, Family::scaled_down};
  const auto family = base::value_in(kFamilies, name);
  const bool is_named = family && *family != Family::as_declared && *family != Family::outliers;
  if (is_named) return std::vector{*family};
  return base::fail(base::ErrorCode::parse,
                    "unknown family \"" + std::string(name) + "\"; known are " + std::string(kFamilyNames));
}

}  // namespace accelopt::model
