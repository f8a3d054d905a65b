// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* w, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float squares = 0.0f;
    for (int64_t k = 0; k < K; ++k) {
      squares += x[i * K + k] * x[i * K + k];
    }
    const float rms = sqrtf(squares / static_cast<float>(K));
    float normed[K];
    for (int64_t k = 0; k < K; ++k) {
      normed[k] = x[i * K + k] / rms;
    }
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += normed[k] * w[k * N + j];
      }
      y[i * N + j] = acc;
    }
  }
}
