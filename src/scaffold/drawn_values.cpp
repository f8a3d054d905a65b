// SPDX-License-Identifier: Apache-2.0
#include "scaffold/drawn_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace accelopt::scaffold {
namespace {

using model::DType;
using model::InitKind;
using model::InitSpec;

/// How each workload draws the input, with the values of the expressions.
std::vector<InitSpec> generators_of(const model::Task& task, const model::TensorSpec& input) {
  std::vector<InitSpec> specs;
  for (const model::Workload& workload : task.workloads) {
    const InitSpec& spec = model::init_of(workload, input);
    const auto known = model::bound(spec, model::bind_axes(task.definition, workload));
    specs.push_back(known ? *known : spec);
  }
  if (specs.empty()) specs.push_back(input.init);
  return specs;
}

/// The one number that all elements are; none: they differ.
std::optional<double> only_value(const InitSpec& spec) {
  if (spec.kind == InitKind::zeros) return 0;
  if (spec.kind == InitKind::ones) return 1;
  if (spec.kind == InitKind::constant) return spec.first;
  return std::nullopt;
}

/// The least and the largest value that a scalar is drawn as; infinite: no end.
struct DrawnRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool operator==(const DrawnRange&) const = default;
};

DrawnRange range_of(const InitSpec& spec, DType dtype) {
  if (const auto value = only_value(spec)) {
    const double stored = model::is_floating(dtype) ? *value : std::nearbyint(*value);
    return {stored, stored};
  }
  switch (spec.kind) {
    case InitKind::values:
      return {spec.values.front(), spec.values.front()};
    case InitKind::permutation:
      return {0, 0};
    case InitKind::integers:
    case InitKind::distinct:
      return {std::ceil(spec.first), std::ceil(spec.second) - 1};
    case InitKind::uniform:
    case InitKind::sorted:
      if (model::is_floating(dtype)) return {spec.first, spec.second};
      return {std::floor(spec.first), std::ceil(spec.second)};
    case InitKind::abs_normal:
      return {0, std::numeric_limits<double>::infinity()};
    default:
      return {};
  }
}

/// The least and the largest number of an integer type.
DrawnRange limits_of(DType dtype) {
  const auto bits = static_cast<int>(8 * model::size_of(dtype));
  switch (dtype) {
    case DType::boolean:
      return {0, 1};
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1)};
    default:
      return {0, std::ldexp(1, bits)};
  }
}

std::string literal(double value, DType dtype, const std::string& type, model::Language language) {
  if (!model::is_floating(dtype))
    return value < 0x1p63 ? std::to_string(static_cast<std::int64_t>(value)) : fmt::format("{:.0f}u", value);
  std::string text = dtype == DType::float64 ? fmt::format("{:.17g}", value) : fmt::format("{:.9g}", float(value));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (dtype == DType::float64) return text;
  text += "f";
  if (dtype == DType::float32) return text;
  return language == model::Language::c ? "(" + type + ")" + text : "static_cast<" + type + ">(" + text + ")";
}

}  // namespace

bool is_one_value(const InitSpec& spec) {
  return only_value(spec).has_value();
}

std::string values_are_drawn(const model::Task& task, const model::TensorSpec& scalar, const ScalarParameter& parameter,
                             model::Language language) {
  std::vector<DrawnRange> ranges;
  for (const InitSpec& spec : generators_of(task, scalar)) {
    const DrawnRange range = range_of(spec, scalar.dtype);
    if (std::find(ranges.begin(), ranges.end(), range) == ranges.end()) ranges.push_back(range);
  }
  const bool is_number = model::is_floating(scalar.dtype);
  const DrawnRange limits = is_number ? DrawnRange{} : limits_of(scalar.dtype);
  const auto compared = [&](const char* how, double value) {
    return parameter.name + how + literal(value, scalar.dtype, parameter.type, language);
  };
  std::string condition;
  for (const DrawnRange& range : ranges) {
    std::string one;
    if (range.low == range.high) {
      one = compared(" == ", range.low);
    } else {
      if (range.low > limits.low) one = compared(" >= ", range.low);
      const bool ends = is_number ? std::isfinite(range.high) : range.high < limits.high - 1;
      if (ends) one += (one.empty() ? "" : " && ") + compared(" <= ", range.high);
    }
    if (one.empty()) return "";  // any value
    const bool is_pair = ranges.size() > 1 && one.find("&&") != std::string::npos;
    condition += (condition.empty() ? "" : " || ") + (is_pair ? "(" + one + ")" : one);
  }
  return ranges.size() > 1 ? "(" + condition + ")" : condition;
}

base::Result<void> refuse_fixed_tensors(const model::Task& task) {
  for (const model::TensorSpec& input : task.definition.inputs) {
    if (!input.shape) continue;
    const std::vector<InitSpec> specs = generators_of(task, input);
    // Families change every number but 0.
    const auto is_fixed = [&](const InitSpec& spec) {
      const auto value = only_value(spec);
      return value && (*value == 0 || input.families.empty());
    };
    if (!std::all_of(specs.begin(), specs.end(), is_fixed)) continue;
    return base::fail(
        base::ErrorCode::invalid_argument,
        fmt::format("every element of {} is drawn as one number ({}), so a kernel that never reads {} passes, and a "
                    "patch would call it with others; draw {} as your program may hold it, like {}{}",
                    input.name, model::to_string(specs.front()), input.name, input.name,
                    model::is_floating(input.dtype) ? "normal(0, 1)" : "integers(0, 100)",
                    input.inout ? ", or let the function fill it and state it as an output" : ""));
  }
  return {};
}

}  // namespace accelopt::scaffold
