// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/bands.hpp"

#include <algorithm>
#include <cmath>

#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::evaluation {
namespace {

/// Room over the variance of honest kernels, which a change must not double.
constexpr double kVarianceRoom = 1.5;
/// An honest kernel may round its result once more, as a partial sum or before the last multiplication: the variance of
/// that, relative to the result and in squared units of roundoff, over evenly distributed mantissas.
constexpr double kRelativeRounding = 0.18;
/// Or what its result is made of, once: the weights of an attention. Perturbed inputs are off by two units of roundoff
/// each, so their variance is about 64 times that of one rounding to the same type (bench/numerics). In float16 tasks
/// the intermediate type may be bfloat16, which has eight times that unit.
constexpr double kIntermediateOfBfloat16 = 1.0 / 64;
constexpr double kIntermediateOfFloat16 = 1;
/// Sums in another order: the room of the normwise bound, squared.
constexpr double kOrderRoom = 16;
/// Errors of a row hang together, so it is rows that average out: the share by which their mean may be above its
/// expectation is so many times 1 / sqrt(rows).
constexpr double kSpread = 6;
constexpr std::size_t kLeastRows = 64;
constexpr double kLeastElements = 256;
/// Where most elements are small, an output is meant in each of its elements. Where a few are, as beside a sigmoid's 1,
/// honest kernels may have them as differences of larger numbers (0.5 + 0.5 tanh), whose errors do not shrink with
/// them.
constexpr double kLeastShareOfLastBand = 0.5;
/// What the smallest elements of a wide type may be off by together, over the honest run that is off by most, and in
/// units of roundoff of their own size: honest orders and exponentials differ by less, and zeros by far more.
constexpr double kLastBandRoom = 32;
constexpr double kLastBandUnits = 32;
constexpr double kLastBandBelow = 4.0 / (1 << kBands);  ///< scaled

}  // namespace

bool has_bands(model::DType dtype, const model::Numerics& numerics) {
  return (dtype == model::DType::float16 || dtype == model::DType::bfloat16) && !numerics.normwise;
}

bool has_last_band(model::DType dtype, const model::Numerics& numerics) {
  return (dtype == model::DType::float32 || dtype == model::DType::float64) && !numerics.normwise;
}

int band_of(double wanted, double scale) {
  const double size = std::abs(wanted) * scale;
  return size > 0 ? std::clamp(-std::ilogb(size), 0, kBands - 1) : kBands - 1;
}

BandSums band_counts(std::span<const double> wanted, double scale, double threshold) {
  BandSums out{};
  for (const double value : wanted) {
    if (value != 0 && std::abs(value) < threshold) out[static_cast<std::size_t>(band_of(value, scale))] += 1;
  }
  return out;
}

BandSums band_norms(std::span<const double> wanted, double scale, double threshold) {
  BandSums out{};
  for (const double value : wanted) {
    if (std::abs(value) < threshold)
      out[static_cast<std::size_t>(band_of(value, scale))] += value * scale * (value * scale);
  }
  return out;
}

BandSums band_squares(std::span<const double> wanted, std::span<const double> got, double scale, double threshold) {
  BandSums out{};
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(wanted[i]) < threshold)) continue;
    const double difference = (got[i] - wanted[i]) * scale;
    if (std::isfinite(difference)) out[static_cast<std::size_t>(band_of(wanted[i], scale))] += difference * difference;
  }
  return out;
}

double last_band_count(std::span<const double> wanted, double scale) {
  double out = 0;
  for (const double value : wanted) out += value != 0 && std::abs(value) * scale < kLastBandBelow ? 1 : 0;
  return out;
}

double last_band_norm(std::span<const double> wanted, double scale) {
  double out = 0;
  for (const double value : wanted) {
    const double size = std::abs(value) * scale;
    out += size < kLastBandBelow ? size * size : 0;
  }
  return out;
}

double last_band_squares(std::span<const double> wanted, std::span<const double> got, double scale) {
  double out = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = (got[i] - wanted[i]) * scale;
    if (std::abs(wanted[i]) * scale < kLastBandBelow && std::isfinite(difference)) out += difference * difference;
  }
  return out;
}

std::vector<double> rounded_to(model::DType dtype, std::span<const double> values) {
  std::vector<std::byte> bytes(values.size() * model::size_of(dtype));
  encode(dtype, values, bytes);
  return decode(dtype, bytes);
}

BandSums allowed_by_band(model::DType dtype, const BandErrors& errors, std::size_t rows, double smallest) {
  BandSums out = unlimited_bands();
  if (rows < kLeastRows) return out;
  const double intermediate = dtype == model::DType::float16 ? kIntermediateOfFloat16 : kIntermediateOfBfloat16;
  const double u = model::unit_roundoff(dtype);
  const double room = kVarianceRoom * (1 + kSpread / std::sqrt(static_cast<double>(rows)));
  for (std::size_t band = 0; band < out.size(); ++band) {
    if (errors.counts[band] < kLeastElements) continue;
    const double again = kRelativeRounding * u * u * errors.norms[band];
    const double made_of = intermediate * errors.perturbed[band];
    out[band] = room * (errors.rounding[band] + std::max(again, made_of)) + kOrderRoom * errors.in_float[band] +
                errors.counts[band] * smallest * smallest;
  }
  return out;
}

BandSums allowed_in_last_band(model::DType dtype, const BandErrors& errors, double elements, double smallest) {
  BandSums out = unlimited_bands();
  constexpr std::size_t kLast = kBands - 1;
  if (errors.counts[kLast] < kLeastElements || errors.counts[kLast] < kLeastShareOfLastBand * elements) return out;
  const double own = kLastBandUnits * model::unit_roundoff(dtype);
  out[kLast] = kLastBandRoom * kLastBandRoom * errors.in_float[kLast] + own * own * errors.norms[kLast] +
               errors.counts[kLast] * smallest * smallest;
  return out;
}

std::optional<int> violated_band(const BandSums& squares, const BandSums& allowed) {
  for (std::size_t band = 0; band < squares.size(); ++band) {
    if (!(squares[band] <= allowed[band])) return static_cast<int>(band);
  }
  return std::nullopt;
}

}  // namespace accelopt::evaluation
