// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: x (D, B H N) is split over its first axis into halves x0 and x1 of F = D / 2 rows each,
// and rotated by the given cos and sin (F, B H N): y = (x0 cos - x1 sin ; x0 sin + x1 cos).
#include "task.h"

extern "C" void reference(const real* x, const real* cos, const real* sin, real* y, int64_t H, int64_t N) {
  const int64_t columns = B * H * N;
  for (int64_t d = 0; d < F; ++d) {
    for (int64_t l = 0; l < columns; ++l) {
      const int64_t low = d * columns + l;
      const int64_t high = (d + F) * columns + l;
      y[low] = x[low] * cos[low] - x[high] * sin[low];
      y[high] = x[low] * sin[low] + x[high] * cos[low];
    }
  }
}
