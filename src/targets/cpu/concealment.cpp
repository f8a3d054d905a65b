// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/concealment.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace accelopt::targets::cpu {
namespace {

constexpr std::size_t kLinesATensor = 6;  ///< few enough that revealing all of them takes about a microsecond

}  // namespace

void Concealment::conceal(const std::vector<std::span<std::byte>>& tensors, std::uint64_t seed) {
  reveal();
  lines_.clear();
  std::mt19937_64 random(seed);
  for (const std::span<std::byte> tensor : tensors) {
    const std::size_t count = tensor.size() / kLineBytes;
    if (count < 2) continue;
    for (std::size_t i = 0; i < std::min(kLinesATensor, count / 2); ++i) {
      Line line;
      line.place = tensor.subspan(random() % count * kLineBytes, kLineBytes);
      const std::span<std::byte> other = tensor.subspan(random() % count * kLineBytes, kLineBytes);
      std::memcpy(line.right.data(), line.place.data(), kLineBytes);
      std::memmove(line.place.data(), other.data(), kLineBytes);
      lines_.push_back(line);
    }
  }
  concealed_ = true;
}

void Concealment::reveal() {
  if (!concealed_) return;
  // Backwards: a line that was chosen twice gets its first value back last.
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
    std::memcpy(line->place.data(), line->right.data(), kLineBytes);
  concealed_ = false;
}

std::vector<std::span<const std::byte>> Concealment::lines() const {
  std::vector<std::span<const std::byte>> out;
  for (const Line& line : lines_) out.emplace_back(line.place);
  return out;
}

}  // namespace accelopt::targets::cpu
