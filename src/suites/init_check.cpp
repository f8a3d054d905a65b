// SPDX-License-Identifier: Apache-2.0
#include "suites/init_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/expression.hpp"

namespace accelopt::suites {

using model::DType;
using model::InitKind;
using model::InitSpec;
using model::TensorSpec;

namespace {

bool is_signed(DType dtype) {
  return dtype == DType::int64 || dtype == DType::int32 || dtype == DType::int16 || dtype == DType::int8;
}

/// The largest value that an integer dtype holds, of 64 bits rounded up; its least is taken as -largest - 1 or 0.
double largest_of(DType dtype) {
  if (is_floating(dtype)) return std::numeric_limits<double>::infinity();
  if (dtype == DType::boolean) return 1;
  const int bits = 8 * static_cast<int>(size_of(dtype)) - (is_signed(dtype) ? 1 : 0);
  return std::ldexp(1.0, bits) - (bits < 63 ? 1 : 0);
}

double least_of(DType dtype) {
  return is_signed(dtype) ? -largest_of(dtype) - 1 : 0;
}

/// Why the generator's numbers make no sense; empty when they do.
std::string refuse_arguments(const InitSpec& init) {
  switch (init.kind) {
    case InitKind::normal:
    case InitKind::abs_normal:
      return init.second >= 0 ? "" : "the deviation must not be negative";
    case InitKind::uniform:
    case InitKind::integers:
    case InitKind::distinct:
      return model::is_ascending(init) ? "" : "the low end must be under the high end";
    case InitKind::sorted:
      return init.first <= init.second ? "" : "the low end must not be over the high end";
    case InitKind::indptr:
      return init.first >= 0 && init.first == std::floor(init.first) ? ""
                                                                     : "the total must be a whole number, 0 or more";
    case InitKind::zeros:
    case InitKind::ones:
    case InitKind::constant:
    case InitKind::permutation:
    case InitKind::values:
      return "";
  }
  return "";
}

/// Whether the generator draws places in another tensor.
bool draws_indices(InitKind kind) {
  return kind == InitKind::permutation || kind == InitKind::indptr || kind == InitKind::distinct;
}

/// Why the kind does not fit the tensor; empty when it does.
std::string refuse_kind(const TensorSpec& tensor, const InitSpec& init) {
  const std::string name = to_string(init);
  const bool floating = is_floating(tensor.dtype);
  const bool draws_reals =
      init.kind == InitKind::normal || init.kind == InitKind::abs_normal || init.kind == InitKind::uniform;
  if (!floating && draws_reals) {
    return name + " draws real numbers, but the dtype is " + std::string(to_string(tensor.dtype)) +
           "; write integers(low, high) or another dtype";
  }
  if (floating && draws_indices(init.kind)) return name + " draws indices; the dtype must be one of integers";
  const bool needs_axis = model::draws_whole_rows(init.kind);
  if (needs_axis && (!tensor.shape || tensor.shape->empty())) return name + " needs a tensor with at least one axis";
  return "";
}

/// The least and the largest number that the generator draws, where they are known.
std::optional<std::pair<double, double>> range_of(const InitSpec& init) {
  switch (init.kind) {
    case InitKind::zeros:
    case InitKind::ones:
    case InitKind::permutation:
      return std::nullopt;
    case InitKind::indptr:
      return std::pair{0.0, init.first};
    case InitKind::integers:
    case InitKind::distinct:
      return std::pair{init.first, init.second - 1};
    case InitKind::sorted:
      return std::pair{init.first, init.second};
    case InitKind::values: {
      const auto [least, largest] = std::minmax_element(init.values.begin(), init.values.end());
      return std::pair{*least, *largest};
    }
    default:
      return std::pair{init.first, init.first};
  }
}

/// Why the generator's numbers do not fit the tensor; empty when they do.
std::string refuse_numbers(const TensorSpec& tensor, const InitSpec& init) {
  const std::string name = to_string(init);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!finite(init.first) || !finite(init.second) || !std::all_of(init.values.begin(), init.values.end(), finite))
    return name + ": its numbers must be finite";
  if (std::string reason = refuse_arguments(init); !reason.empty()) return name + ": " + reason;
  if (is_floating(tensor.dtype)) return "";
  const auto whole = [](double value) { return value == std::floor(value); };
  if (!std::all_of(init.values.begin(), init.values.end(), whole))
    return name + " has numbers that are not whole, but the dtype is " + std::string(to_string(tensor.dtype));
  const auto range = range_of(init);
  if (range && (range->first < least_of(tensor.dtype) || range->second > largest_of(tensor.dtype))) {
    return name + " draws values that " + std::string(to_string(tensor.dtype)) + " does not hold";
  }
  return "";
}

bool is_open(const InitSpec& init) {
  return !init.expressions[0].empty() || !init.expressions[1].empty();
}

}  // namespace

std::vector<std::string> names_in(const InitSpec& init) {
  std::vector<std::string> names;
  for (const std::string& expression : init.expressions) {
    if (expression.empty()) continue;
    const auto used = base::expression_names(expression);
    if (used) names.insert(names.end(), used->begin(), used->end());
  }
  return names;
}

std::string refuse_init(const TensorSpec& tensor, const InitSpec& init) {
  // What an expression is worth is known where the axes are bound.
  std::string reason = is_open(init) ? "" : refuse_numbers(tensor, init);
  return reason.empty() ? refuse_kind(tensor, init) : reason;
}

std::string refuse_bound_init(const TensorSpec& tensor, const InitSpec& init, const model::AxisValues& axes) {
  const auto values = model::bound(init, axes);
  if (!values) return values.error().message;
  if (std::string reason = refuse_init(tensor, *values); !reason.empty()) return reason;
  if (!model::draws_whole_rows(init.kind)) return "";
  const std::vector<std::int64_t> shape = shape_of(tensor, axes);
  const std::string row = std::to_string(shape.back());
  const std::string name = to_string(*values);
  if (init.kind == InitKind::indptr && shape.back() < 2) return name + ": needs a row of at least two, not of " + row;
  if (init.kind == InitKind::distinct && static_cast<double>(shape.back()) > values->second - values->first)
    return name + " holds fewer numbers than a row, which has " + row;
  const std::int64_t elements = element_count(tensor, axes);
  if (init.kind == InitKind::values && static_cast<std::int64_t>(values->values.size()) != elements)
    return name + ": the input has " + std::to_string(elements) + " elements";
  return "";
}

}  // namespace accelopt::suites
