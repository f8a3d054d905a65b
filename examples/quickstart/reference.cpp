// SPDX-License-Identifier: Apache-2.0
// What softmax_rows has to compute, as the textbook says it. `real` is double, and float where bounds are measured.
#include <algorithm>
#include <cmath>

#include "task.h"

extern "C" void reference(const real* x, real* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    real largest = x[r * cols];
    for (int64_t c = 0; c < cols; ++c) largest = std::max(largest, x[r * cols + c]);
    real sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += std::exp(x[r * cols + c] - largest);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = std::exp(x[r * cols + c] - largest) / sum;
  }
}
