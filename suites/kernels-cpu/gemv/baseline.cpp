// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const float* a, const float* x, const float* y0, float alpha, float beta, float* y, int64_t M,
                       int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t j = 0; j < N; ++j) {
      sum += a[i * N + j] * x[j];
    }
    y[i] = alpha * sum + beta * y0[i];
  }
}
