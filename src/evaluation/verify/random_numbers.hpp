// SPDX-License-Identifier: Apache-2.0
// Random numbers by their place: counter-based, and the same on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace accelopt::evaluation {

/// Independent streams of one seed, in this order on devices too (devices/cuda/kernels/input_kernels.cu).
enum class Stream : std::uint64_t {
  value = 1,
  angle,
  heavy,
  sparse,
  shuffle,
  perturbation,
  late,
  sign,
  tie,
  extreme,
  outlier
};

/// Elements drawn at a time: small enough for the first-level cache, even so that normals come in pairs.
inline constexpr std::size_t kChunk = 1024;

constexpr std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// 64 random bits for every index of one stream.
class Bits {
 public:
  Bits(std::uint64_t seed, Stream stream)
      : key_(mix(mix(seed) + static_cast<std::uint64_t>(stream) * 0x9e3779b97f4a7c15)) {}
  std::uint64_t operator()(std::uint64_t index) const { return mix(key_ + (index + 1) * 0x9e3779b97f4a7c15); }
  /// Uniform in (0, 1), never an end: 52 bits and a half.
  double uniform(std::uint64_t index) const {
    const std::uint64_t bits = (operator()(index) >> 12) | 0x3ff0000000000000;
    return (std::bit_cast<double>(bits) - 1) + 0x1p-53;
  }

 private:
  std::uint64_t key_;
};

/// Standard normal numbers of indices [first, first + out.size()), at most kChunk; element i comes from pair i / 2.
void draw_normals(std::uint64_t seed, std::uint64_t first, std::span<double> out);

}  // namespace accelopt::evaluation
