// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace accelopt::targets::cpu {

/// Finds out whether a kernel goes on writing its outputs after it said that it was done. A few cache lines, chosen
/// anew for every call, are copied at that moment, and must still hold the same once its process stands still: whoever
/// leaves a hundredth for later is found within some dozen calls.
class LateWrites {
 public:
  LateWrites(const std::vector<std::span<const std::byte>>& outputs, std::uint64_t seed);
  /// Copies the lines. Allocates nothing: what it takes is time that the kernel still has.
  void remember();
  /// Whether one of them has changed since.
  [[nodiscard]] bool seen() const;

 private:
  static constexpr std::size_t kLines = 32;  ///< some 3 us of cache misses
  static constexpr std::size_t kLineBytes = 64;
  struct Line {
    std::span<const std::byte> place;
    std::array<std::byte, kLineBytes> held{};
  };
  std::vector<Line> lines_;
};

}  // namespace accelopt::targets::cpu
