// SPDX-License-Identifier: Apache-2.0
#include "evaluation/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/result.hpp"
#include "evaluation/dtype_codec.hpp"

// The comparison runs on every timed call; with AVX2 it goes at the speed of memory. The results are the same without.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define ACCELOPT_WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define ACCELOPT_WITH_AVX2
#endif

namespace accelopt::evaluation {
namespace {

using model::DType;

/// A row is at least this long, so that its largest element and its largest honest error rest on many elements.
constexpr std::int64_t kLeastRow = 32;
/// Honest kernels differ from the reference in the order of their operations: room over the measured error.
constexpr double kNormwiseRoom = 4;
constexpr double kElementwiseRoom = 8;
/// Rounding errors grow with u: what double loses in a sum's order is this share of what float loses in it.
constexpr double kDoublePerFloat = 0x1p-29;
/// In u of the output. Wide types get four times that: where all elements of an output share few random numbers
/// (constant rows) the one float run may be right by luck; bfloat16 inputs are off by 100 times as much even where all
/// terms are positive.
constexpr double kLeastNormwiseNarrow = 8;
constexpr double kLeastNormwiseWide = 32;
/// One row with ill-conditioned elements has its own bound and must not loosen the others': the rows' floor is at most
/// this many times the median row's honest error.
constexpr double kOutlierRoom = 16;
/// A row of small elements may be as far off as a row of the usual size: what was added up to it cancelled out, and
/// rounding errors did not. At most by this factor, so that a row of tiny values still has to be right.
constexpr double kCancellationRoom = 100;
/// Where an output hardly depends on its inputs (a softmax of almost equal values) the measured error can be 0 by luck,
/// and a sum whose first term is by far the largest loses a little with each of the others, where the reference, with
/// that term last, loses nothing. Wide types may be off by this many u of the element (a hundredth of what rounding the
/// inputs to tf32 does), narrow ones, to which a kernel rounds once at the end, by one unit in the last place.
constexpr double kWideElement = 32;
constexpr double kNarrowElement = 2;
/// In u of the row's largest element, which any element of wide type may be off by: a softmax's tail of 1e-20 beside a
/// 1 has no digits that an honest order of its sums would keep.
constexpr double kWideRow = 2;

typedef double Vector __attribute__((vector_size(32)));
typedef std::int64_t Mask __attribute__((vector_size(32)));
typedef float FloatVector __attribute__((vector_size(16)));
constexpr std::size_t kLanes = 4;

/// Sum of squares of scaled differences, and whether every element is within its bound. NaN and infinity are never
/// within.
struct RowResult {
  double squares = 0;
  bool within = true;
};

inline double larger(double left, double right) {
  return left > right ? left : right;
}

inline void load_lanes(const double* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}
inline void load_lanes(const float* from, Vector& to) {
  FloatVector narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, Vector);
}

template <class T>
__attribute__((always_inline)) inline void compare_row_as(const T* actual, const double* expected, std::size_t count,
                                                          double row_bound, double relative, double scale,
                                                          RowResult& result) {
  const Mask magnitude_bits = Mask{} + std::numeric_limits<std::int64_t>::max();
  const Vector row_bounds = Vector{} + row_bound;
  Vector sums[2] = {Vector{}, Vector{}};
  Mask within = Mask{} - 1;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Vector a;
      Vector e;
      load_lanes(actual + i + half * kLanes, a);
      load_lanes(expected + i + half * kLanes, e);
      const Vector difference = a - e;
      const Vector size = reinterpret_cast<Vector>(reinterpret_cast<Mask>(difference) & magnitude_bits);
      const Vector own = reinterpret_cast<Vector>(reinterpret_cast<Mask>(e) & magnitude_bits) * relative;
      const Vector bound = own > row_bounds ? own : row_bounds;
      within &= size <= bound;
      const Vector scaled = difference * scale;
      sums[half] += scaled * scaled;
    }
  }
  const Vector both = sums[0] + sums[1];
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

constexpr double kLargest = std::numeric_limits<double>::max();

/// Keeps the bits of the mask: all but the sign, or whole lanes.
__attribute__((always_inline)) inline void keep_bits(Mask mask, Vector& value) {
  value = reinterpret_cast<Vector>(reinterpret_cast<Mask>(value) & mask);
}

/// The honest error of a row: the largest difference, the sum of scaled squares, and whether it is finite wherever the
/// expected output is.
struct RowError {
  double largest = 0;
  double squares = 0;
  bool finite = true;
};

/// What all rows of one run are compared by. `share` of every difference counts.
struct Measure {
  double scale;
  double threshold;
  double share;
};

__attribute__((always_inline)) inline void add_errors(const double* run, const double* expected, const Measure& measure,
                                                      Vector& largest, Vector& squares, Mask& unfinite) {
  Vector got;
  Vector wanted;
  load_lanes(run, got);
  load_lanes(expected, wanted);
  const Mask all_but_sign = Mask{} + std::numeric_limits<std::int64_t>::max();
  Vector difference = got - wanted;
  for (Vector* const one : {&got, &wanted, &difference}) keep_bits(all_but_sign, *one);
  difference *= measure.share;
  // Too large for the output's type, and float lost it on the way: in another order it loses something else.
  const Mask in_range = wanted < measure.threshold;
  const Mask measured = in_range & (difference <= kLargest);
  unfinite |= in_range & ~measured;
  unfinite |= ~in_range & (wanted <= kLargest) & ~(got <= kLargest);
  keep_bits(measured, difference);
  largest = difference > largest ? difference : largest;
  const Vector scaled = difference * measure.scale;
  squares += scaled * scaled;
}

ACCELOPT_WITH_AVX2 void measure_row(const double* run, const double* expected, std::size_t count,
                                    const Measure& measure, RowError& out) {
  Vector largest{};
  Vector squares{};
  Mask unfinite{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) add_errors(run + i, expected + i, measure, largest, squares, unfinite);
  if (i < count) {
    double last_run[kLanes] = {};
    double last_expected[kLanes] = {};
    std::copy(run + i, run + count, last_run);
    std::copy(expected + i, expected + count, last_expected);
    add_errors(last_run, last_expected, measure, largest, squares, unfinite);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.largest = larger(out.largest, largest[lane]);
    out.squares += squares[lane];
    out.finite = out.finite && unfinite[lane] == 0;
  }
}

/// Of every row the largest difference goes to `row_errors` where it is larger.
RowError measure_run(const Expected& expected, std::span<const double> run, std::int64_t row_length,
                     const Measure& measure, std::vector<double>& row_errors) {
  RowError error;
  const auto length = static_cast<std::size_t>(row_length);
  for (std::size_t row = 0; row * length < run.size(); ++row) {
    RowError own;
    measure_row(run.data() + row * length, expected.values.data() + row * length, length, measure, own);
    row_errors[row] = larger(row_errors[row], own.largest);
    error.squares += own.squares;
    error.finite = error.finite && own.finite;
  }
  return error;
}

/// The largest element below the threshold, and the sum of scaled squares of all such.
ACCELOPT_WITH_AVX2 void size_up_row(const double* values, std::size_t count, double scale, double threshold,
                                    RowError& out) {
  Vector largest{};
  Vector squares{};
  std::size_t i = 0;
  const auto add = [&](const double* from) __attribute__((always_inline)) {
    Vector size;
    load_lanes(from, size);
    keep_bits(Mask{} + std::numeric_limits<std::int64_t>::max(), size);
    keep_bits(size < threshold, size);
    largest = size > largest ? size : largest;
    const Vector scaled = size * scale;
    squares += scaled * scaled;
  };
  for (; i + kLanes <= count; i += kLanes) add(values + i);
  if (i < count) {
    double last[kLanes] = {};
    std::copy(values + i, values + count, last);
    add(last);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.largest = larger(out.largest, largest[lane]);
    out.squares += squares[lane];
  }
}

/// Largest finite element of every row.
std::vector<double> row_sizes(const Expected& expected, std::int64_t row_length, double threshold) {
  const auto length = static_cast<std::size_t>(row_length);
  std::vector<double> sizes(expected.values.size() / length);
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    RowError own;
    size_up_row(expected.values.data() + row * length, length, 0, threshold, own);
    sizes[row] = own.largest;
  }
  return sizes;
}

double norm_squares_of(const Expected& expected, double scale, double threshold) {
  RowError all;
  size_up_row(expected.values.data(), expected.values.size(), scale, threshold, all);
  return all.squares;
}

/// What every row may be off by: at least `least` times its largest element.
void set_row_bounds(const std::vector<double>& sizes, const std::vector<double>& errors, double least, Bounds& bounds) {
  std::vector<double> ratios;
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    if (sizes[row] > 0) ratios.push_back(errors[row] / sizes[row]);
  }
  double floor = 0;
  double usual = 0;
  if (!ratios.empty()) {
    std::vector<double> some = sizes;
    std::erase(some, 0.0);
    std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2), some.end());
    usual = some[some.size() / 2];
    bounds.honest_elementwise = *std::max_element(ratios.begin(), ratios.end());
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    floor = std::min(bounds.honest_elementwise, kOutlierRoom * *middle);
  }
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    const double size = larger(sizes[row], std::min(usual, kCancellationRoom * sizes[row]));
    const double calibrated = kElementwiseRoom * larger(errors[row], floor * size);
    bounds.rows[row] = larger(bounds.absolute, larger(calibrated, least * sizes[row]));
  }
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
  const BandSums squares = band_squares(expected.values, values, bounds.scale, threshold);
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

std::int64_t row_length_of(const std::vector<std::int64_t>& shape) {
  std::int64_t length = 1;
  for (auto axis = shape.rbegin(); axis != shape.rend() && length < kLeastRow; ++axis) length *= *axis;
  return std::max<std::int64_t>(length, 1);
}

double overflow_threshold(DType dtype) {
  const double largest = range_of(dtype).largest;
  if (dtype == DType::float64) return std::numeric_limits<double>::infinity();
  return largest + std::ldexp(model::unit_roundoff(dtype), std::ilogb(largest));
}

double calibration_scale(const std::vector<double>& row_sizes) {
  const double largest = row_sizes.empty() ? 0 : *std::max_element(row_sizes.begin(), row_sizes.end());
  return largest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1;
}

double share_of_float_error(DType dtype, const model::Numerics& numerics) {
  return dtype != DType::float64 || numerics.lower_precision ? 1 : kDoublePerFloat;
}

Bounds bounds_of(DType dtype, const std::vector<std::int64_t>& shape, const HonestErrors& errors,
                 const model::Numerics& numerics) {
  Bounds bounds;
  bounds.row_length = row_length_of(shape);
  if (!model::is_floating(dtype)) return bounds;
  const double u = model::unit_roundoff(dtype);
  const bool wide = dtype == DType::float32 || dtype == DType::float64;
  const FloatRange range = range_of(dtype);
  // bfloat16 and wider flush to zero what no operator means to compute; the narrow types' subnormal numbers are in use.
  bounds.absolute = wide || dtype == DType::bfloat16 ? range.smallest_normal : range.smallest;
  bounds.relative = (wide ? kWideElement : kNarrowElement) * u;
  bounds.rows.assign(errors.row_sizes.size(), bounds.absolute);
  if (errors.row_sizes.empty()) return bounds;
  bounds.scale = calibration_scale(errors.row_sizes);
  bounds.norm = std::sqrt(errors.norm_squares);
  bounds.float_is_finite = errors.float_is_finite || share_of_float_error(dtype, numerics) < 1;
  bounds.honest_normwise = bounds.norm > 0 ? std::sqrt(errors.error_squares) / bounds.norm : 0;
  const double least = (wide ? kLeastNormwiseWide : kLeastNormwiseNarrow) * u;
  bounds.normwise = numerics.normwise.value_or(larger(kNormwiseRoom * bounds.honest_normwise, least));
  // A stated bound replaces the measured error, so the elements get their room over it too.
  const double stated = numerics.normwise.value_or(0) / kNormwiseRoom * kElementwiseRoom;
  set_row_bounds(errors.row_sizes, errors.row_errors, larger(stated, wide ? kWideRow * u : 0), bounds);
  if (has_bands(dtype, numerics)) {
    bounds.bands = allowed_by_band(dtype, errors.bands, errors.row_sizes.size(), bounds.absolute * bounds.scale);
    bounds.band_counts = errors.bands.counts;
  }
  return bounds;
}

Bounds calibrate(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics) {
  if (!model::is_floating(expected.dtype)) return bounds_of(expected.dtype, expected.shape, {}, numerics);
  const double float_share = share_of_float_error(expected.dtype, numerics);
  const std::size_t count = expected.values.size();
  const auto has_size = [&](std::span<const double> run, bool optional) {
    return run.size() == count || (optional && run.empty());
  };
  const bool alone = runs.perturbed_a.empty() && runs.perturbed_b.empty();  // the float run stands for all of them
  ACCELOPT_ASSERT(has_size(runs.perturbed_a, alone) && has_size(runs.perturbed_b, alone) &&
                      has_size(runs.in_float, float_share < 1) && has_size(runs.perturbed_in_float, true),
                  "every run of the reference has the output's size");
  const std::int64_t row_length = row_length_of(expected.shape);
  const double threshold = overflow_threshold(expected.dtype);
  HonestErrors errors;
  errors.row_sizes = row_sizes(expected, row_length, threshold);
  errors.row_errors.resize(errors.row_sizes.size());
  const double scale = calibration_scale(errors.row_sizes);
  errors.norm_squares = norm_squares_of(expected, scale, threshold);
  const auto measure = [&](std::span<const double> run, double share) {
    const RowError error = measure_run(expected, run, row_length, {scale, threshold, share}, errors.row_errors);
    errors.error_squares = larger(errors.error_squares, error.squares);
    return error.finite;
  };
  errors.float_is_finite = measure(runs.in_float, float_share * runs.float_factor);
  measure(runs.perturbed_in_float, float_share);
  measure(runs.perturbed_a, 1);
  measure(runs.perturbed_b, 1);
  if (has_bands(expected.dtype, numerics)) {
    const auto squares = [&](std::span<const double> run) {
      return band_squares(expected.values, run, scale, threshold);
    };
    errors.bands.counts = band_counts(expected.values, scale, threshold);
    errors.bands.norms = band_norms(expected.values, scale, threshold);
    errors.bands.rounding = squares(rounded_to(expected.dtype, expected.values));
    errors.bands.in_float = squares(runs.in_float);
    const BandSums first = squares(runs.perturbed_a);
    const BandSums second = squares(runs.perturbed_b);
    for (std::size_t band = 0; band < first.size(); ++band)
      errors.bands.perturbed[band] = (first[band] + second[band]) / 2;
  }
  return bounds_of(expected.dtype, expected.shape, errors, numerics);
}

std::optional<double> float_factor(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics) {
  constexpr double kMost = 64;  // beyond it the float run says nothing of the others
  if (!model::is_floating(expected.dtype)) return 1;
  if (has_bands(expected.dtype, numerics) || share_of_float_error(expected.dtype, numerics) < 1) return std::nullopt;
  const Bounds all = calibrate(expected, runs, numerics);
  HonestRuns float_run;
  float_run.in_float = runs.in_float;
  const Bounds alone = calibrate(expected, float_run, numerics);
  const double factor =
      larger(all.honest_normwise / alone.honest_normwise, all.honest_elementwise / alone.honest_elementwise);
  if (!(factor <= kMost)) return std::nullopt;
  return larger(factor, 1);
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
      return text + fmt::format(
                        "elements of its size are off by {:.3g} (root mean square), which is over {:.3g}: "
                        "computed less exactly than in 16 bits",
                        comparison.mismatch.normwise_error, comparison.mismatch.normwise_bound);
    case NumericalRule::elementwise:
      return text + fmt::format("the element is out of its bound (normwise error of the whole output {:.3g})",
                                comparison.normwise_error);
    default:
      return text + fmt::format("normwise error {:.3g} is over {:.3g}", comparison.normwise_error,
                                comparison.mismatch.normwise_bound);
  }
}

}  // namespace accelopt::evaluation
