// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* z, const float* g, const float* w, float* out, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float y[K];
    float squares = 0.0f;
    for (int64_t k = 0; k < K; ++k) {
      y[k] = x[i * K + k] + z[i * K + k];
      squares += y[k] * y[k];
    }
    const float rms = sqrtf(squares / static_cast<float>(K) + 1e-5f);
    for (int64_t k = 0; k < K; ++k) {
      y[k] = y[k] / rms * g[k];
    }
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += y[k] * w[k * N + j];
      }
      out[i * N + j] = acc;
    }
  }
}
