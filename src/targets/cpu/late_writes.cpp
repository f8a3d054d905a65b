// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/late_writes.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace accelopt::targets::cpu {

LateWrites::LateWrites(const std::vector<std::span<const std::byte>>& outputs, std::uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x6c617465ULL);
  std::vector<std::span<const std::byte>> filled;
  for (const auto& output : outputs) {
    if (!output.empty()) filled.push_back(output);
  }
  if (filled.empty()) return;
  lines_.resize(kLines);
  for (Line& line : lines_) {
    const std::span<const std::byte> output = filled[random() % filled.size()];
    const std::size_t begin = random() % ((output.size() + kLineBytes - 1) / kLineBytes) * kLineBytes;
    line.place = output.subspan(begin, std::min(kLineBytes, output.size() - begin));
  }
}

void LateWrites::remember() {
  for (Line& line : lines_) std::memcpy(line.held.data(), line.place.data(), line.place.size());
}

bool LateWrites::seen() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const Line& line) {
    return std::memcmp(line.held.data(), line.place.data(), line.place.size()) != 0;
  });
}

}  // namespace accelopt::targets::cpu
