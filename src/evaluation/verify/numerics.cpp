// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/result.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/lanes.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;

/// Sum of squares of scaled differences, and whether every element is within its bound. NaN and infinity are never
/// within.
struct RowResult {
  double squares = 0;
  bool within = true;
};

template <class T>
__attribute__((always_inline)) inline void compare_row_as(const T* actual, const double* expected, std::size_t count,
                                                          double row_bound, double relative, double scale,
                                                          RowResult& result) {
  const LaneMask magnitude_bits = LaneMask{} + std::numeric_limits<std::int64_t>::max();
  const Lanes row_bounds = Lanes{} + row_bound;
  Lanes sums[2] = {Lanes{}, Lanes{}};
  LaneMask within = LaneMask{} - 1;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Lanes a;
      Lanes e;
      load_lanes(actual + i + half * kLanes, a);
      load_lanes(expected + i + half * kLanes, e);
      const Lanes difference = a - e;
      const Lanes size = reinterpret_cast<Lanes>(reinterpret_cast<LaneMask>(difference) & magnitude_bits);
      const Lanes own = reinterpret_cast<Lanes>(reinterpret_cast<LaneMask>(e) & magnitude_bits) * relative;
      const Lanes bound = own > row_bounds ? own : row_bounds;
      within &= size <= bound;
      const Lanes scaled = difference * scale;
      sums[half] += scaled * scaled;
    }
  }
  const Lanes both = sums[0] + sums[1];
  double squares = 0;
  bool all_within = true;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    squares += both[lane];
    all_within = all_within && within[lane] != 0;
  }
  for (; i < count; ++i) {
    const double difference = static_cast<double>(actual[i]) - expected[i];
    all_within = all_within && std::abs(difference) <= larger(row_bound, std::abs(expected[i]) * relative);
    squares += difference * scale * (difference * scale);
  }
  result.squares = squares;
  result.within = all_within;
}

ACCELOPT_WITH_AVX2 void compare_float_row(const float* actual, const double* expected, std::size_t count,
                                          double row_bound, double relative, double scale, RowResult& result) {
  compare_row_as(actual, expected, count, row_bound, relative, scale, result);
}

ACCELOPT_WITH_AVX2 void compare_double_row(const double* actual, const double* expected, std::size_t count,
                                           double row_bound, double relative, double scale, RowResult& result) {
  compare_row_as(actual, expected, count, row_bound, relative, scale, result);
}

/// What is wrong with one element; none if nothing.
NumericalRule judge_element(double wanted, double got, double bound, double threshold, bool has_infinity) {
  const bool wants_nan = std::isnan(wanted);
  if (wants_nan || std::isnan(got)) {
    const bool overflowed = !has_infinity && std::isnan(got) && std::abs(wanted) + bound >= threshold;
    return (wants_nan && std::isnan(got)) || overflowed ? NumericalRule::none : NumericalRule::pattern;
  }
  // Near the end of the type an honest kernel may fall on either side of infinity.
  const bool wants_infinity = std::isinf(wanted);
  if (std::isinf(got)) {
    const bool same_side = std::signbit(got) == std::signbit(wanted) && std::abs(wanted) + bound >= threshold;
    return same_side ? NumericalRule::none : NumericalRule::pattern;
  }
  if (wants_infinity) return NumericalRule::pattern;
  if (std::abs(got - wanted) <= bound) return NumericalRule::none;
  return std::abs(wanted) >= threshold ? NumericalRule::pattern : NumericalRule::elementwise;
}

/// The element by element form of a row that is not plainly within: finds the first bad element, leaves out infinities.
NumericalRule examine_row(const Expected& expected, const Bounds& bounds, std::span<const double> actual,
                          std::size_t first, double row_bound, double& squares, std::size_t& bad) {
  const double threshold = overflow_threshold(expected.dtype);
  const bool has_infinity = expected.dtype != DType::float8_e4m3fn;
  squares = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double wanted = expected.values[first + i];
    const double bound = larger(row_bound, std::abs(wanted) * bounds.relative);
    const NumericalRule violated = judge_element(wanted, actual[i], bound, threshold, has_infinity);
    if (violated != NumericalRule::none) {
      bad = first + i;
      return violated;
    }
    const double difference = actual[i] - wanted;
    if (std::isfinite(difference)) squares += difference * bounds.scale * (difference * bounds.scale);
  }
  return NumericalRule::none;
}

Comparison refuse(NumericalRule rule, const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual,
                  std::size_t index) {
  Comparison comparison;
  comparison.violated = rule;
  comparison.mismatch.index = static_cast<std::int64_t>(index);
  comparison.mismatch.expected = model::is_floating(expected.dtype) ? expected.values[index]
                                 : expected.dtype == DType::uint64
                                     ? static_cast<double>(static_cast<std::uint64_t>(expected.integers[index]))
                                     : static_cast<double>(expected.integers[index]);
  comparison.mismatch.actual = decode_element(expected.dtype, actual, index);
  comparison.mismatch.normwise_bound = bounds.normwise;
  return comparison;
}

/// Over the finite differences of the whole output.
double normwise_error(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual) {
  const std::vector<double> values = decode(expected.dtype, actual);
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = (values[i] - expected.values[i]) * bounds.scale;
    if (std::isfinite(difference)) squares += difference * difference;
  }
  return bounds.norm > 0 ? std::sqrt(squares) / bounds.norm : 0;
}

/// Where the error is largest for its bound: what to show when no single element is out of bounds.
std::size_t worst_element(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual) {
  const std::vector<double> values = decode(expected.dtype, actual);
  std::size_t worst = 0;
  double worst_share = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double bound = larger(bounds.rows[i / static_cast<std::size_t>(bounds.row_length)],
                                std::abs(expected.values[i]) * bounds.relative);
    const double share = std::abs(values[i] - expected.values[i]) / bound;
    if (std::isfinite(share) && share > worst_share) {
      worst = i;
      worst_share = share;
    }
  }
  return worst;
}

/// Of an output that is right in its norm and in every element.
Comparison compare_bands(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual,
                         double normwise) {
  const std::vector<double> values = decode(expected.dtype, actual);
  const double threshold = overflow_threshold(expected.dtype);
  BandSums squares{};
  if (has_last_band(expected.dtype, {})) {
    squares.back() = last_band_squares(expected.values, values, bounds.scale);
  } else {
    squares = band_squares(expected.values, values, bounds.scale, threshold);
  }
  Comparison out;
  out.normwise_error = out.mismatch.normwise_error = normwise;
  out.mismatch.normwise_bound = bounds.normwise;
  const auto band = violated_band(squares, bounds.bands);
  if (!band) return out;
  const BandError error = band_error(bounds, squares, *band);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = expected.values[i];
    if (!(std::abs(wanted) < threshold) || band_of(wanted, bounds.scale) != *band) continue;
    if (std::abs(values[i] - wanted) <= error.bound) continue;
    out = refuse(NumericalRule::band, expected, bounds, actual, i);
    break;
  }
  out.violated = NumericalRule::band;
  out.normwise_error = out.mismatch.normwise_error = error.error;
  out.mismatch.normwise_bound = error.bound;
  return out;
}

Comparison compare_floating(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual) {
  const auto length = static_cast<std::size_t>(bounds.row_length);
  const bool in_place = expected.dtype == DType::float32 || expected.dtype == DType::float64;
  std::vector<double> decoded(in_place ? 0 : length);
  double squares = 0;
  for (std::size_t row = 0; row < bounds.rows.size(); ++row) {
    const std::size_t first = row * length;
    const std::span<const std::byte> bytes =
        actual.subspan(first * model::size_of(expected.dtype), length * model::size_of(expected.dtype));
    const double* wanted = expected.values.data() + first;
    RowResult result;
    // Output buffers are aligned for their dtype: they come from mappings.
    if (expected.dtype == DType::float32) {
      compare_float_row(reinterpret_cast<const float*>(bytes.data()), wanted, length, bounds.rows[row], bounds.relative,
                        bounds.scale, result);
    } else if (expected.dtype == DType::float64) {
      compare_double_row(reinterpret_cast<const double*>(bytes.data()), wanted, length, bounds.rows[row],
                         bounds.relative, bounds.scale, result);
    } else {
      decode(expected.dtype, bytes, decoded);
      compare_double_row(decoded.data(), wanted, length, bounds.rows[row], bounds.relative, bounds.scale, result);
    }
    if (!result.within || !std::isfinite(result.squares)) {
      std::size_t bad = 0;
      const NumericalRule violated =
          examine_row(expected, bounds, decode(expected.dtype, bytes), first, bounds.rows[row], result.squares, bad);
      if (violated != NumericalRule::none) {
        Comparison comparison = refuse(violated, expected, bounds, actual, bad);
        comparison.normwise_error = comparison.mismatch.normwise_error = normwise_error(expected, bounds, actual);
        return comparison;
      }
    }
    squares += result.squares;
  }
  const double error = bounds.norm > 0 ? std::sqrt(squares) / bounds.norm : 0;
  Comparison comparison;
  if (!(error <= bounds.normwise)) {
    comparison = refuse(NumericalRule::normwise, expected, bounds, actual, worst_element(expected, bounds, actual));
  }
  comparison.normwise_error = comparison.mismatch.normwise_error = error;
  comparison.mismatch.normwise_bound = bounds.normwise;
  if (comparison.passed() && bounds.bands != unlimited_bands()) return compare_bands(expected, bounds, actual, error);
  return comparison;
}

template <class T>
std::size_t first_difference(std::span<const std::int64_t> wanted, std::span<const std::byte> actual) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    T value;
    std::memcpy(&value, actual.data() + i * sizeof(T), sizeof(T));
    if (static_cast<std::int64_t>(value) != wanted[i]) return i;
  }
  return wanted.size();
}

std::size_t first_difference(const Expected& expected, std::span<const std::byte> actual) {
  switch (expected.dtype) {
    case DType::int64:
    case DType::uint64:
      return first_difference<std::int64_t>(expected.integers, actual);
    case DType::uint32:
      return first_difference<std::uint32_t>(expected.integers, actual);
    case DType::uint16:
      return first_difference<std::uint16_t>(expected.integers, actual);
    case DType::int32:
      return first_difference<std::int32_t>(expected.integers, actual);
    case DType::int16:
      return first_difference<std::int16_t>(expected.integers, actual);
    case DType::int8:
      return first_difference<std::int8_t>(expected.integers, actual);
    default:
      return first_difference<std::uint8_t>(expected.integers, actual);
  }
}

}  // namespace

BandError band_error(const Bounds& bounds, const BandSums& squares, int band) {
  const auto at = static_cast<std::size_t>(band);
  const auto root = [&](double sum) { return std::sqrt(sum / bounds.band_counts[at]) / bounds.scale; };
  return {root(squares[at]), root(bounds.bands[at])};
}

std::string_view to_string(NumericalRule rule) {
  switch (rule) {
    case NumericalRule::none:
      return "none";
    case NumericalRule::size:
      return "size";
    case NumericalRule::pattern:
      return "pattern";
    case NumericalRule::normwise:
      return "normwise";
    case NumericalRule::elementwise:
      return "elementwise";
    case NumericalRule::exact:
      return "exact";
    case NumericalRule::band:
      return "band";
    case NumericalRule::ties:
      return "ties";
    case NumericalRule::repeated:
      return "repeated";
  }
  return "none";
}

Comparison compare(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual) {
  const bool floating = model::is_floating(expected.dtype);
  const std::size_t count = floating ? expected.values.size() : expected.integers.size();
  Comparison comparison;
  if (actual.size() != count * model::size_of(expected.dtype)) {
    comparison.violated = NumericalRule::size;
    return comparison;
  }
  if (floating) return compare_floating(expected, bounds, actual);
  const std::size_t index = first_difference(expected, actual);
  return index == count ? comparison : refuse(NumericalRule::exact, expected, bounds, actual, index);
}

std::optional<std::size_t> first_disagreement(const Expected& expected, const Bounds& bounds,
                                              std::span<const std::byte> first, std::span<const std::byte> second) {
  ACCELOPT_ASSERT(first.size() == second.size(), "two outputs of the same tensor have the same size");
  if (std::memcmp(first.data(), second.data(), first.size()) == 0) return std::nullopt;
  if (!model::is_floating(expected.dtype)) {
    const auto [one, other] = std::mismatch(first.begin(), first.end(), second.begin());
    return static_cast<std::size_t>(one - first.begin()) / model::size_of(expected.dtype);
  }
  const std::vector<double> one = decode(expected.dtype, first);
  const std::vector<double> other = decode(expected.dtype, second);
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] == other[i] || (std::isnan(one[i]) && std::isnan(other[i]))) continue;
    const double bound = larger(bounds.rows[i / static_cast<std::size_t>(bounds.row_length)],
                                std::abs(expected.values[i]) * bounds.relative);
    if (!(std::abs(one[i] - other[i]) <= bound)) return i;
  }
  return std::nullopt;
}

std::string explain(const Expected& expected, const Comparison& comparison) {
  if (comparison.passed()) return "the output is right";
  if (comparison.violated == NumericalRule::size) return "the output has the wrong size";
  std::string element;
  std::int64_t rest = comparison.mismatch.index;
  for (auto axis = expected.shape.rbegin(); axis != expected.shape.rend(); ++axis) {
    element.insert(0, (axis + 1 == expected.shape.rend() ? "" : ", ") + std::to_string(rest % *axis));
    rest /= *axis;
  }
  std::string text =
      fmt::format("expected {:.9g}, got {:.9g} at index {} (element [{}]); ", comparison.mismatch.expected,
                  comparison.mismatch.actual, comparison.mismatch.index, element);
  switch (comparison.violated) {
    case NumericalRule::pattern:
      return text + "NaN or infinity must be exactly where the reference has it";
    case NumericalRule::exact:
      return text + "integers must be equal";
    case NumericalRule::ties:
      return text + fmt::format("the values that they name differ by {:.3g}, which is over {:.3g}",
                                comparison.mismatch.normwise_error, comparison.mismatch.normwise_bound);
    case NumericalRule::repeated:
      return text + "the indices of one row must be distinct";
    case NumericalRule::band:
      return text + fmt::format("elements of its size are off by {:.3g} (root mean square), which is over {:.3g}: {}",
                                comparison.mismatch.normwise_error, comparison.mismatch.normwise_bound,
                                has_last_band(expected.dtype, {}) ? "small beside the largest, and not to be left out"
                                                                  : "computed less exactly than in 16 bits");
    case NumericalRule::elementwise:
      return text + fmt::format("the element is out of its bound (normwise error of the whole output {:.3g})",
                                comparison.normwise_error);
    default:
      return text + fmt::format("normwise error {:.3g} is over {:.3g}", comparison.normwise_error,
                                comparison.mismatch.normwise_bound);
  }
}

}  // namespace accelopt::evaluation
