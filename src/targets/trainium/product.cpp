// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off: a fused multiply-add would change last bits from machine to machine.
#include "targets/trainium/product.hpp"

#include <algorithm>
#include <cstring>

#include "evaluation/verify/lanes.hpp"

namespace accelopt::targets::trainium {
namespace {

using Floats = float __attribute__((vector_size(32)));
constexpr std::size_t kLanes = sizeof(Floats) / sizeof(float);
// A block of the result stays in registers: eight vectors of the sixteen that AVX2 has.
constexpr std::size_t kRows = 4;
constexpr std::size_t kColumns = 2 * kLanes;

std::size_t rounded_up(std::size_t count, std::size_t step) {
  return (count + step - 1) / step * step;
}

/// Panels of so many columns, with one row after the other; zeros beyond the last column.
template <std::size_t width>
void pack(const Rows& from, std::size_t depth, std::size_t columns, std::vector<float>& to) {
  to.resize(rounded_up(columns, width) * depth);
  float* out = to.data();
  for (std::size_t begin = 0; begin < columns; begin += width) {
    const std::size_t count = std::min(width, columns - begin);
    const float* row = from.first + begin;
    for (std::size_t k = 0; k < depth; ++k, out += width, row += from.step) {
      if (count == width) {
        std::memcpy(out, row, width * sizeof(float));  // of a size that the compiler knows: one instruction or two
        continue;
      }
      std::fill(std::copy_n(row, count, out), out + width, 0.0F);
    }
  }
}

/// Of whole panels; `sums` has rows of `width` floats.
ACCELOPT_WITH_AVX2 void multiply_panels(const float* left, const float* right, std::size_t depth, std::size_t rows,
                                        std::size_t width, float* sums) {
  for (std::size_t n = 0; n < width; n += kColumns) {
    for (std::size_t m = 0; m < rows; m += kRows) {
      const float* a = left + m * depth;
      const float* b = right + n * depth;
      Floats low[kRows]{};
      Floats high[kRows]{};
      for (std::size_t k = 0; k < depth; ++k, a += kRows, b += kColumns) {
        Floats b_low;
        Floats b_high;
        std::memcpy(&b_low, b, sizeof b_low);
        std::memcpy(&b_high, b + kLanes, sizeof b_high);
        for (std::size_t i = 0; i < kRows; ++i) {
          low[i] += a[i] * b_low;
          high[i] += a[i] * b_high;
        }
      }
      for (std::size_t i = 0; i < kRows; ++i) {
        std::memcpy(sums + (m + i) * width + n, &low[i], sizeof low[i]);
        std::memcpy(sums + (m + i) * width + n + kLanes, &high[i], sizeof high[i]);
      }
    }
  }
}

}  // namespace

const std::vector<float>& Product::of(const Rows& left, const Rows& right, std::size_t depth, std::size_t rows,
                                      std::size_t columns) {
  pack<kRows>(left, depth, rows, left_);
  pack<kColumns>(right, depth, columns, right_);
  const std::size_t whole_rows = rounded_up(rows, kRows);
  const std::size_t width = rounded_up(columns, kColumns);
  sums_.resize(whole_rows * width);
  multiply_panels(left_.data(), right_.data(), depth, whole_rows, width, sums_.data());
  if (width != columns) {
    for (std::size_t m = 1; m < rows; ++m)
      std::copy_n(sums_.begin() + static_cast<std::ptrdiff_t>(m * width), columns,
                  sums_.begin() + static_cast<std::ptrdiff_t>(m * columns));
  }
  sums_.resize(rows * columns);
  return sums_;
}

}  // namespace accelopt::targets::trainium
