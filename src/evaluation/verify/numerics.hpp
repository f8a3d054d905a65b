// SPDX-License-Identifier: Apache-2.0
// Is an output right? What an honest kernel may be off by is measured a slot, not guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/verify/bands.hpp"
#include "model/dtype.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// What one output of one slot must be: the reference run in double on the rounded inputs.
struct Expected {
  model::DType dtype = model::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<double> values;          ///< floating dtypes; not rounded to dtype
  std::vector<std::int64_t> integers;  ///< the other dtypes
};

/// What an output may be off by. Made by `calibrate`; a task's own `normwise` stands for 4 e0 in all of it.
struct Bounds {
  double normwise = 0;                 ///< largest ||out - expected|| / ||expected||
  std::vector<double> rows;            ///< absolute, for every element of the row
  std::int64_t row_length = 1;         ///< elements; the last axes together, until they are at least 32
  double relative = 0;                 ///< 2 u of the output: one unit in the last place, of the element itself
  double absolute = 0;                 ///< where the output's own type ends
  double scale = 1;                    ///< a power of two that keeps squares in range
  double norm = 0;                     ///< of scale * expected, over its finite elements
  double honest_normwise = 0;          ///< e0
  double honest_elementwise = 0;       ///< e0_max, relative to the row's largest element
  BandSums bands = unlimited_bands();  ///< largest sums of scaled squares by magnitude (bands.hpp)
  BandSums band_counts{};              ///< elements of each
  bool float_is_finite =
      true;  ///< false: the float run has NaN or infinity where the double run has none; drop the family
};

/// One output of the reference as honest kernels might give it, all on the same slot, as doubles and not rounded.
struct HonestRuns {
  std::span<const double> in_float;     ///< built as float
  std::span<const double> perturbed_a;  ///< in double on perturbed inputs (see perturb)
  std::span<const double> perturbed_b;
  std::span<const double> perturbed_in_float;  ///< both; empty: not run
  double float_factor = 1;  ///< how many times larger the other runs' errors are, where they are not run
};

/// Measures e0: the largest error of these runs. For float64 outputs the errors of the float runs count as what they
/// would be in double, or, under lower_precision, as they are; without it these runs may be empty. Perturbed runs may
/// be empty where `float_factor` stands for them. Integer dtypes: the runs are not looked at. Sizes must be those of
/// `expected`.
Bounds calibrate(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics);

/// How many times larger the errors of all honest runs are than those of the float run alone; none where that does not
/// tell: the float run has no error, a task's bounds come from elsewhere, or more than a factor is taken from the runs.
std::optional<double> float_factor(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics);
/// The same of what was measured: the bounds by all runs, and by the float run alone.
std::optional<double> factor_over_float(const Bounds& all, const Bounds& alone);
/// Whether two runs in float, one of them on perturbed inputs, were off by nearly as much as all honest runs, and the
/// output has rows enough for them to be so on other inputs.
bool float_runs_tell(const Bounds& all, const Bounds& two);

/// What a bound says of the task whose declared inputs it is of.
enum class BoundWorth {
  tells,   ///< right results from wrong ones
  loose,   ///< kernels may be off by much more than their roundings: the reference loses its digits to cancellation
  useless  ///< infinite, or results may be off by half of their size
};
/// Bounds that the task states are as they are meant to be. Where kernels may round to 16 bits, or inputs have no more,
/// honest ones lose digits too: only an infinite bound is useless there. Eight-bit outputs have no digits to lose.
BoundWorth worth_of(const Bounds& bounds, const model::Definition& definition, const model::TensorSpec& output);
/// What kernels may be off by in this output, why, and what to change.
std::string explain_loose(const Bounds& bounds, const std::string& workload, const std::string& output);

// The parts of `calibrate`, for a target that measures honest errors where its slots lie.

/// What the honest runs of one output were off by.
struct HonestErrors {
  std::vector<double> row_sizes;   ///< of every row the largest |expected| below the overflow threshold
  std::vector<double> row_errors;  ///< of every row the largest difference, times the run's share
  double norm_squares = 0;         ///< of scale * expected, over the elements below the threshold
  double error_squares = 0;        ///< of scale * difference * share: the largest run's
  BandErrors bands;                ///< of dtypes that have bands
  bool float_is_finite = true;     ///< wherever the expected output is finite and below the threshold
};
/// Elements of a row: the last axes together, until they are at least 32.
std::int64_t row_length_of(const std::vector<std::int64_t>& shape);
/// From here on a number rounds to infinity (to NaN where the type has none).
double overflow_threshold(model::DType dtype);
/// The power of two that keeps squares in range.
double calibration_scale(const std::vector<double>& row_sizes);
/// What part of a float run's error counts for an output of this dtype.
double share_of_float_error(model::DType dtype, const model::Numerics& numerics);
Bounds bounds_of(model::DType dtype, const std::vector<std::int64_t>& shape, const HonestErrors& errors,
                 const model::Numerics& numerics);
/// What `calibrate` takes the bounds from.
HonestErrors honest_errors(const Expected& expected, const HonestRuns& runs, const model::Numerics& numerics);
/// One run more; `share` of every difference counts. Returns whether it is finite wherever it must be. An empty one
/// changes nothing.
bool add_honest_run(const Expected& expected, std::span<const double> run, double share, HonestErrors& errors);

/// Whether some rows were off by so much more than the usual one that their bounds rest on their own errors alone, and
/// by more than any element may be: in a
/// softmax of large logits those in which two of them nearly tie. In one such row in a hundred two runs are off by less
/// than an eighth of what the next honest one is off by; with kMoreRuns it is one in millions.
bool needs_more_runs(model::DType dtype, const std::vector<std::int64_t>& shape, const HonestErrors& errors,
                     const model::Numerics& numerics);
/// Further runs on perturbed inputs: in float where each tensor's share_of_float_error is 1, else in double.
inline constexpr int kMoreRuns = 8;
/// Of each of them its own.
std::uint64_t seed_of_more(std::uint64_t perturbation, int run);

/// Whether so few numbers come out that no norm over them averages anything: sums over whole tensors. Of such an output
/// the error of one run is one random number, which no other run stands for. Nor do perturbed inputs draw it anew, as a
/// long sum rounds nearly the same with them: kMoreRuns pairs in double and in float on rotated inputs do.
bool has_few_elements(const std::vector<std::int64_t>& shape);
/// Whether a sum over rotated inputs is of the size of the first one. If all inputs are of one size it is the same sum;
/// otherwise it may be another one, whose errors say nothing.
bool is_alike(const Expected& one, const Expected& other);
/// By so many of its elements every floating input is rotated: inputs of one size stay beside one another.
std::size_t rotation(std::size_t elements, std::uint64_t perturbation, int run);

/// The root of a band's mean square, and what it may be; not scaled.
struct BandError {
  double error = 0;
  double bound = 0;
};
BandError band_error(const Bounds& bounds, const BandSums& squares, int band);

enum class NumericalRule { none, size, pattern, normwise, elementwise, exact, band, ties, repeated };
/// "none", "size", "pattern" (NaN and infinity), "normwise", "elementwise", "exact", "band" (elements of one
/// magnitude), "ties" (an index of another value), "repeated" (an index twice in a row).
std::string_view to_string(NumericalRule rule);

struct Comparison {
  NumericalRule violated = NumericalRule::none;
  /// Index, expected and actual of the first bad element, error and bound (of a band: the root of its mean square, and
  /// what that may be); the caller adds workload, family and output.
  model::Mismatch mismatch;
  double normwise_error = 0;
  std::string spread;  ///< of a wrong output: spread_text, where whoever compared could tell

  bool passed() const { return violated == NumericalRule::none; }
};

/// Compares an output buffer, elements of expected.dtype, with what it must be.
Comparison compare(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual);

/// Two outputs of one kernel on the same inputs, over other poison: the first element in which they differ by more than
/// a right output may be off (integers: at all; NaN and infinity: anywhere else). None: they agree. Sizes must be those
/// of `expected`.
std::optional<std::size_t> first_disagreement(const Expected& expected, const Bounds& bounds,
                                              std::span<const std::byte> first, std::span<const std::byte> second);

/// "expected 1.5, got nan at index 7 (element [0, 7]); NaN or infinity where there must be none": one line for people
/// and fixer.
std::string explain(const Expected& expected, const Comparison& comparison);

}  // namespace accelopt::evaluation
