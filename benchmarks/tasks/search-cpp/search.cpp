// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

namespace search {
namespace {

/// Whether the value is among those from `low` to below `high`.
bool found(std::vector<long> sorted, std::size_t low, std::size_t high, long value) {
  if (low >= high) return false;
  const std::size_t middle = low + (high - low) / 2;
  if (sorted[middle] == value) return true;
  return sorted[middle] < value ? found(sorted, middle + 1, high, value) : found(sorted, low, middle, value);
}

}  // namespace

std::size_t hits(const std::vector<long>& sorted, const std::vector<long>& wanted) {
  std::size_t count = 0;
  for (const long value : wanted) count += found(sorted, 0, sorted.size(), value) ? 1 : 0;
  return count;
}

}  // namespace search
