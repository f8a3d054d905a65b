// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const float* x, const float* cos, const float* sin, float* y, int64_t N) {
  const int64_t L = B * H * N;
  for (int64_t d = 0; d < F; ++d) {
    for (int64_t l = 0; l < L; ++l) {
      const float x0 = x[d * L + l];
      const float x1 = x[(d + F) * L + l];
      const float c = cos[d * L + l];
      const float s = sin[d * L + l];
      y[d * L + l] = x0 * c - x1 * s;
      y[(d + F) * L + l] = x0 * s + x1 * c;
    }
  }
}
