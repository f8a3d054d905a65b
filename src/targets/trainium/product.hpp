// SPDX-License-Identifier: Apache-2.0
// The product that the tensor engine computes, in float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace accelopt::targets::trainium {

/// Rows of floats, each of which lies in one piece.
struct Rows {
  const float* first = nullptr;
  std::int64_t step = 0;  ///< floats from a row to the next one
};

/// left.T @ right. Every element is its products added up in the order of the depth, beginning with 0, and each
/// operation is rounded: the bits are the same with every vector unit.
class Product {
 public:
  /// rows x columns, one row after the other; valid until the next call.
  const std::vector<float>& of(const Rows& left, const Rows& right, std::size_t depth, std::size_t rows,
                               std::size_t columns);

 private:
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<float> sums_;
};

}  // namespace accelopt::targets::trainium
