// SPDX-License-Identifier: Apache-2.0
// Cumulative sums along the rows of x (M, N): y[i, j] = x[i, 0] + ... + x[i, j].
#include "task.h"

extern "C" void reference(const real* x, real* y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    real sum = 0;
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = sum += x[i * N + j];
  }
}
