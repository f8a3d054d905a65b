// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace accelopt::targets::cpu {

/// Keeps a few cache lines of the inputs wrong until the go. A kernel that took over its process and began to compute
/// as soon as the inputs were laid out computes with wrong values, and its output is refused.
class Concealment {
 public:
  /// Swaps randomly chosen lines of the tensors for other lines of the same tensor, so that values stay plausible.
  void conceal(const std::vector<std::span<std::byte>>& tensors, std::uint64_t seed);
  /// Puts the right values back. Safe to call twice.
  void reveal();
  /// The lines that were touched, to be flushed where the call is to begin with cold caches.
  [[nodiscard]] std::vector<std::span<const std::byte>> lines() const;

 private:
  static constexpr std::size_t kLineBytes = 64;
  struct Line {
    std::span<std::byte> place;
    std::array<std::byte, kLineBytes> right{};
  };
  std::vector<Line> lines_;
  bool concealed_ = false;
};

}  // namespace accelopt::targets::cpu
