// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off: a fused multiply-add would change last bits from machine to machine.
#include "evaluation/verify/random_numbers.hpp"

#include <cmath>

#include "evaluation/verify/lanes.hpp"

namespace accelopt::evaluation {
namespace {

/// Natural logarithm of a normal number, to about 1e-14; only exact operations and a fixed polynomial, so the same
/// everywhere.
inline double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // Moves the mantissa into [sqrt(1/2), sqrt(2)).
  const std::uint64_t shifted = bits + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
  const double exponent = std::bit_cast<double>((shifted >> 52) | 0x4330000000000000) - 0x1p52 - 1023;
  const double m = std::bit_cast<double>((shifted & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  const double f = (m - 1) / (m + 1);
  const double s = f * f;
  const double series =
      1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11 + s * (1.0 / 13 + s / 15))))));
  return exponent * 0.69314718055994530942 + 2 * f * series;
}

/// Two independent normal numbers (Box and Muller) from a uniform number and 64 random bits. Free of branches: a loop
/// over it becomes vector code.
inline void normal_pair(double radius_uniform, std::uint64_t angle_bits, double& first, double& second) {
  const double radius = std::sqrt(-2 * portable_log(radius_uniform));
  // Two bits say how many quarter turns, the others where in the quarter.
  const std::uint64_t quarter = angle_bits >> 62;
  const double within = std::bit_cast<double>(((angle_bits << 2) >> 12) | 0x3ff0000000000000) - 1.5;
  const double x = (within + 0x1p-53) * 1.57079632679489661923;
  const double s = x * x;
  const double sine =
      x * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800))))));
  const double cosine =
      1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800 + s / 479001600)))));
  // The turns: (c, s), (-s, c), (-c, -s), (s, -c).
  const auto sine_bits = std::bit_cast<std::uint64_t>(sine);
  const auto cosine_bits = std::bit_cast<std::uint64_t>(cosine);
  const std::uint64_t swapped = (sine_bits ^ cosine_bits) & (0 - (quarter & 1));
  const std::uint64_t first_sign = ((quarter + 1) & 2) << 62;
  const std::uint64_t second_sign = (quarter & 2) << 62;
  first = radius * std::bit_cast<double>(cosine_bits ^ swapped ^ first_sign);
  second = radius * std::bit_cast<double>(sine_bits ^ swapped ^ second_sign);
}

/// Pairs [first, first + count).
ACCELOPT_WITH_AVX2 void draw_normal_pairs(const Bits& radius_bits, const Bits& angle_bits, std::uint64_t first,
                                          std::size_t count, double* cosines, double* sines) {
  for (std::size_t i = 0; i < count; ++i)
    normal_pair(radius_bits.uniform(first + i), angle_bits(first + i), cosines[i], sines[i]);
}

}  // namespace

void draw_normals(std::uint64_t seed, std::uint64_t first, std::span<double> out) {
  constexpr std::size_t kPairs = kChunk / 2 + 1;
  const Bits radius_bits(seed, Stream::value);
  const Bits angle_bits(seed, Stream::angle);
  const std::uint64_t first_pair = first / 2;
  const auto count = static_cast<std::size_t>((first + out.size() + 1) / 2 - first_pair);
  double cosines[kPairs];
  double sines[kPairs];
  draw_normal_pairs(radius_bits, angle_bits, first_pair, count, cosines, sines);
  const auto skip = static_cast<std::size_t>(first % 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t place = i + skip;
    out[i] = place % 2 == 0 ? cosines[place / 2] : sines[place / 2];
  }
}

}  // namespace accelopt::evaluation
