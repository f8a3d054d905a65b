// SPDX-License-Identifier: Apache-2.0
// What an output may be off by: measured from honest runs of the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/lanes.hpp"
#include "evaluation/verify/numerics.hpp"

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

/// So many rows, of 32 elements or more, and no single one decides what a run is off by.
constexpr std::size_t kLeastRowsOfTwo = 64;

constexpr double kLargest = std::numeric_limits<double>::max();

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
                                                      Lanes& largest, Lanes& squares, LaneMask& unfinite) {
  Lanes got;
  Lanes wanted;
  load_lanes(run, got);
  load_lanes(expected, wanted);
  const LaneMask all_but_sign = LaneMask{} + std::numeric_limits<std::int64_t>::max();
  Lanes difference = got - wanted;
  for (Lanes* const one : {&got, &wanted, &difference}) keep_bits(all_but_sign, *one);
  difference *= measure.share;
  // Too large for the output's type, and float lost it on the way: in another order it loses something else.
  const LaneMask in_range = wanted < measure.threshold;
  const LaneMask measured = in_range & (difference <= kLargest);
  unfinite |= in_range & ~measured;
  unfinite |= ~in_range & (wanted <= kLargest) & ~(got <= kLargest);
  keep_bits(measured, difference);
  largest = difference > largest ? difference : largest;
  const Lanes scaled = difference * measure.scale;
  squares += scaled * scaled;
}

ACCELOPT_WITH_AVX2 void measure_row(const double* run, const double* expected, std::size_t count,
                                    const Measure& measure, RowError& out) {
  Lanes largest{};
  Lanes squares{};
  LaneMask unfinite{};
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
  Lanes largest{};
  Lanes squares{};
  std::size_t i = 0;
  const auto add = [&](const double* from) __attribute__((always_inline)) {
    Lanes size;
    load_lanes(from, size);
    keep_bits(LaneMask{} + std::numeric_limits<std::int64_t>::max(), size);
    keep_bits(size < threshold, size);
    largest = size > largest ? size : largest;
    const Lanes scaled = size * scale;
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

/// A stated bound replaces the measured error, so the elements get their room over it too.
double of_stated(const model::Numerics& numerics) {
  return numerics.normwise.value_or(0) / kNormwiseRoom * kElementwiseRoom;
}

/// Errors of rows relative to their largest element; rows of zeros have none.
struct RelativeErrors {
  double largest = 0;
  double median = 0;
};
RelativeErrors relative_errors(const std::vector<double>& sizes, const std::vector<double>& errors) {
  std::vector<double> ratios;
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    if (sizes[row] > 0) ratios.push_back(errors[row] / sizes[row]);
  }
  if (ratios.empty()) return {};
  const double largest = *std::max_element(ratios.begin(), ratios.end());
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return {largest, *middle};
}

/// What every row may be off by: at least `least` times its largest element.
void set_row_bounds(const std::vector<double>& sizes, const std::vector<double>& errors, double least, Bounds& bounds) {
  const RelativeErrors relative = relative_errors(sizes, errors);
  bounds.honest_elementwise = relative.largest;
  const double floor = std::min(relative.largest, kOutlierRoom * relative.median);
  double usual = 0;
  std::vector<double> some = sizes;
  std::erase(some, 0.0);
  if (!some.empty()) {
    std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2), some.end());
    usual = some[some.size() / 2];
  }
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    const double size = larger(sizes[row], std::min(usual, kCancellationRoom * sizes[row]));
    const double calibrated = kElementwiseRoom * larger(errors[row], floor * size);
    bounds.rows[row] = larger(bounds.absolute, larger(calibrated, least * sizes[row]));
  }
}

}  // namespace

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
  const double room = has_few_elements(shape) ? kElementwiseRoom : kNormwiseRoom;
  bounds.normwise = numerics.normwise.value_or(larger(room * bounds.honest_normwise, least));
  set_row_bounds(errors.row_sizes, errors.row_errors, larger(of_stated(numerics), wide ? kWideRow * u : 0), bounds);
  if (has_bands(dtype, numerics)) {
    bounds.bands = allowed_by_band(dtype, errors.bands, errors.row_sizes.size(), bounds.absolute * bounds.scale);
    bounds.band_counts = errors.bands.counts;
  } else if (has_last_band(dtype, numerics)) {
    const double elements = static_cast<double>(errors.row_sizes.size()) * static_cast<double>(bounds.row_length);
    bounds.bands = allowed_in_last_band(dtype, errors.bands, elements, bounds.absolute * bounds.scale);
    bounds.band_counts = errors.bands.counts;
  }
  return bounds;
}

HonestErrors honest_errors(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics) {
  if (!model::is_floating(expected.dtype)) return {};
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
  if (has_last_band(expected.dtype, numerics)) {
    errors.bands.counts.back() = last_band_count(expected.values, scale);
    errors.bands.norms.back() = last_band_norm(expected.values, scale);
  }
  errors.float_is_finite = add_honest_run(expected, runs.in_float, float_share * runs.float_factor, errors);
  add_honest_run(expected, runs.perturbed_in_float, float_share, errors);
  add_honest_run(expected, runs.perturbed_a, 1, errors);
  add_honest_run(expected, runs.perturbed_b, 1, errors);
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
  return errors;
}

bool add_honest_run(const Expected& expected, std::span<const double> run, double share, HonestErrors& errors) {
  if (run.empty()) return true;
  const Measure measure{calibration_scale(errors.row_sizes), overflow_threshold(expected.dtype), share};
  const RowError error = measure_run(expected, run, row_length_of(expected.shape), measure, errors.row_errors);
  errors.error_squares = larger(errors.error_squares, error.squares);
  if (has_last_band(expected.dtype, {}) && errors.bands.counts.back() > 0) {
    const double squares = last_band_squares(expected.values, run, measure.scale) * share * share;
    errors.bands.in_float.back() = larger(errors.bands.in_float.back(), squares);
  }
  return error.finite;
}

bool has_few_elements(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  return elements < kLeastRow;
}

bool needs_more_runs(DType dtype, const std::vector<std::int64_t>& shape, const HonestErrors& errors,
                     const model::Numerics& numerics) {
  if (!model::is_floating(dtype)) return false;
  if (has_few_elements(shape)) return false;  // rotated inputs tell
  const RelativeErrors relative = relative_errors(errors.row_sizes, errors.row_errors);
  const Bounds bounds = bounds_of(dtype, {}, {}, numerics);  // what every element may be off by
  return relative.largest > kOutlierRoom * relative.median &&
         kElementwiseRoom * relative.largest > larger(bounds.relative, of_stated(numerics));
}

bool is_alike(const Expected& one, const Expected& other) {
  constexpr double kMostApart = 16;
  const auto size = [](const Expected& of) {
    double squares = 0;
    for (const double value : of.values) squares += value * value;
    return std::sqrt(squares);
  };
  return size(other) <= kMostApart * size(one) && size(one) <= kMostApart * size(other);
}

std::size_t rotation(std::size_t elements, std::uint64_t seed, int run) {
  const double part = static_cast<double>(seed_of_more(seed, run) >> 11U) * 0x1p-53;
  return static_cast<std::size_t>(part * static_cast<double>(elements));
}

std::uint64_t seed_of_more(std::uint64_t perturbation, int run) {
  return base::derive_seed(perturbation, "more " + std::to_string(run));
}

Bounds calibrate(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics) {
  return bounds_of(expected.dtype, expected.shape, honest_errors(expected, runs, numerics), numerics);
}

BoundWorth worth_of(const Bounds& bounds, const model::Definition& definition, const model::TensorSpec& output) {
  constexpr double kLoose = 1e-2;
  constexpr double kLooseNarrow = 0.25;
  constexpr double kUseless = 0.5;
  if (!model::is_floating(output.dtype) || definition.numerics.normwise) return BoundWorth::tells;
  if (!std::isfinite(bounds.normwise)) return BoundWorth::useless;
  if (model::size_of(output.dtype) < 2) return BoundWorth::tells;
  const auto is_narrow = [](const model::TensorSpec& tensor) {
    return model::is_floating(tensor.dtype) && model::size_of(tensor.dtype) < 4;
  };
  const bool narrow =
      definition.numerics.lower_precision || is_narrow(output) || std::ranges::any_of(definition.inputs, is_narrow);
  if (!narrow && bounds.normwise >= kUseless) return BoundWorth::useless;
  return bounds.normwise > (narrow ? kLooseNarrow : kLoose) ? BoundWorth::loose : BoundWorth::tells;
}

std::string explain_loose(const Bounds& bounds, const std::string& workload, const std::string& output) {
  const double percent = 100 * bounds.normwise;
  const std::string share = percent < 10 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
  return "workload " + workload + ": results of output " + output +
         (std::isfinite(percent) ? " may be off by " + share + " % of their size" : " may be off by anything") +
         ": the reference computed in float, or on inputs with other last bits, loses its digits, as to cancellation, "
         "and no kernel is held to more; write reference and baseline so that nothing cancels (with `double` where it "
         "does), draw other inputs, or state numerics.normwise";
}

std::optional<double> factor_over_float(const Bounds& all, const Bounds& alone) {
  constexpr double kMost = 64;  // beyond it the float run says nothing of the others
  const double factor =
      larger(all.honest_normwise / alone.honest_normwise, all.honest_elementwise / alone.honest_elementwise);
  if (!(factor <= kMost)) return std::nullopt;
  return larger(factor, 1);
}

bool float_runs_tell(const Bounds& all, const Bounds& two) {
  constexpr double kMostBeyond = 1.5;  // of the room of four
  const auto factor = factor_over_float(all, two);
  return all.rows.size() >= kLeastRowsOfTwo && factor && *factor <= kMostBeyond;
}

std::optional<double> float_factor(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics) {
  if (!model::is_floating(expected.dtype)) return 1;
  if (has_few_elements(expected.shape)) return 1;  // rotated inputs tell, whatever the slot
  if (has_bands(expected.dtype, numerics) || share_of_float_error(expected.dtype, numerics) < 1) return std::nullopt;
  const Bounds all = calibrate(expected, runs, numerics);
  HonestRuns float_run;
  float_run.in_float = runs.in_float;
  return factor_over_float(all, calibrate(expected, float_run, numerics));
}
}  // namespace accelopt::evaluation
