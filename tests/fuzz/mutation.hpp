// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

namespace accelopt::fuzz {

inline constexpr std::size_t kMostInputBytes = 1 << 16;

/// The input after one to eight changes: bits, bytes, numbers of the text, words of such formats, and pieces removed,
/// repeated, moved, or taken from another input of the pool. At most kMostInputBytes, or as long as it was.
std::string mutated(std::string input, const std::vector<std::string>& pool, std::mt19937_64& random);

}  // namespace accelopt::fuzz
