// SPDX-License-Identifier: Apache-2.0
// BLAS's GEMV: y (M) = alpha a x + beta y0, where a is (M, N), row-major.
#include "task.h"

extern "C" void reference(const real* a, const real* x, const real* y0, real alpha, real beta, real* y, int64_t M,
                          int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    real sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += a[i * N + j] * x[j];
    y[i] = alpha * sum + beta * y0[i];
  }
}
