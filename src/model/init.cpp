// SPDX-License-Identifier: Apache-2.0
#include "model/init.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "base/names.hpp"
#include "base/text.hpp"

namespace accelopt::model {
namespace {

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
                                                               {Family::near_ties, "near_ties"}});

constexpr std::string_view kForms =
    "normal(mean, deviation), abs_normal(mean, deviation), uniform(low, high), integers(low, high), zeros, ones, "
    "constant(value), "
    "permutation, indptr(total), sorted(low, high)";

std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  while (!base::trimmed(text).empty()) {
    const auto comma = text.find(',');
    const std::string_view item = base::trimmed(text.substr(0, comma));
    double value = 0;
    const auto [end, problem] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (problem != std::errc{} || end != item.data() + item.size()) return std::nullopt;
    numbers.push_back(value);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return numbers;
}

std::string shortest(double value) {
  char buffer[32];
  const auto [end, problem] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
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
  std::vector<double> numbers;
  if (open != std::string_view::npos) {
    if (whole.back() != ')') return refuse();
    const auto parsed = parse_numbers(whole.substr(open + 1, whole.size() - open - 2));
    if (!parsed) return refuse();
    numbers = *parsed;
  }
  for (const Generator& generator : kGenerators) {
    if (generator.name != name) continue;
    if (numbers.size() != generator.arguments) return refuse();
    InitSpec spec{generator.kind, 0, 1};
    if (!numbers.empty()) spec.first = numbers[0];
    if (numbers.size() > 1) spec.second = numbers[1];
    return spec;
  }
  return refuse();
}

std::string to_string(const InitSpec& spec) {
  for (const Generator& generator : kGenerators) {
    if (generator.kind != spec.kind) continue;
    std::string text(generator.name);
    if (generator.arguments == 1) text += "(" + shortest(spec.first) + ")";
    if (generator.arguments == 2) text += "(" + shortest(spec.first) + ", " + shortest(spec.second) + ")";
    return text;
  }
  ACCELOPT_ASSERT(false, "an InitKind without a generator");
}

std::string_view to_string(Family family) {
  return base::name_in(kFamilies, family);
}

base::Result<std::vector<Family>> parse_family(std::string_view name) {
  if (name == "scaled") return std::vector{Family::scaled_up, Family::scaled_down};
  const auto family = base::value_in(kFamilies, name);
  if (family && *family != Family::as_declared) return std::vector{*family};
  return base::fail(base::ErrorCode::parse,
                    "unknown family \"" + std::string(name) + "\"; known are " + std::string(kFamilyNames));
}

}  // namespace accelopt::model
