// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* g, const float* b, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t j = 0; j < N; ++j) {
      sum += x[i * N + j];
    }
    const float mean = sum / N;
    float squares = 0.0f;
    for (int64_t j = 0; j < N; ++j) {
      squares += (x[i * N + j] - mean) * (x[i * N + j] - mean);
    }
    const float scale = 1.0f / sqrtf(squares / N + 1e-5f);
    for (int64_t j = 0; j < N; ++j) {
      y[i * N + j] = (x[i * N + j] - mean) * scale * g[j] + b[j];
    }
  }
}
