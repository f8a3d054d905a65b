// SPDX-License-Identifier: Apache-2.0
// Errors of outputs by magnitude: what is rounded more coarsely among small elements alone shows in no norm and in no
// row's bound.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "model/dtype.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// Each holds the elements of one power of two, from the largest row's size downwards; the last one all that is
/// smaller.
inline constexpr int kBands = 16;
using BandSums = std::array<double, kBands>;

constexpr BandSums unlimited_bands() {
  BandSums out{};
  for (double& one : out) one = std::numeric_limits<double>::infinity();
  return out;
}

/// What the honest runs were off by: sums of scaled squares over each band.
struct BandErrors {
  BandSums counts{};     ///< elements
  BandSums norms{};      ///< the expected output's own squares, scaled
  BandSums rounding{};   ///< of the expected output rounded to its dtype
  BandSums in_float{};   ///< of the float run; where the last band alone is judged, of that run which is off by most
  BandSums perturbed{};  ///< the mean of the two runs in double on perturbed inputs
};

/// Whether outputs of this dtype are judged by all bands: 16-bit ones, unless the task states its own bound.
bool has_bands(model::DType dtype, const model::Numerics& numerics);
/// Whether they are judged by the last band alone: float32 and float64 ones, unless the task states its own bound. A
/// row may be a whole tensor, beside whose largest element the smaller half of an exponential could be zeros.
bool has_last_band(model::DType dtype, const model::Numerics& numerics);

/// Of an element that is finite and below the type's threshold.
int band_of(double wanted, double scale);

/// How many elements each band has. A zero is none of them: nobody rounds it, and beside a row of zeros (of an
/// attention without keys) a few small elements of other rows are still a few.
BandSums band_counts(std::span<const double> wanted, double scale, double threshold);
/// Sums of (scale * wanted)^2.
BandSums band_norms(std::span<const double> wanted, double scale, double threshold);
/// Sums of (scale * difference)^2, of finite differences.
BandSums band_squares(std::span<const double> wanted, std::span<const double> got, double scale, double threshold);
/// The same of the last band alone, in one pass that is short for each element: what a band_* function gives for it.
double last_band_count(std::span<const double> wanted, double scale);
double last_band_norm(std::span<const double> wanted, double scale);
double last_band_squares(std::span<const double> wanted, std::span<const double> got, double scale);
/// Every value as the dtype has it.
std::vector<double> rounded_to(model::DType dtype, std::span<const double> values);

/// The most that each sum of squares may be; infinity: the band is not judged. `smallest`: what any element may be off
/// by, scaled.
BandSums allowed_by_band(model::DType dtype, const BandErrors& errors, std::size_t rows, double smallest);
/// The same of a dtype that has_last_band, in an output with so many elements.
BandSums allowed_in_last_band(model::DType dtype, const BandErrors& errors, double elements, double smallest);

/// The first band with a larger sum than it may have.
std::optional<int> violated_band(const BandSums& squares, const BandSums& allowed);

}  // namespace accelopt::evaluation
