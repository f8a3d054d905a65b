// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* w, const float* z, const float* g, float* out, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += x[i * K + k] * w[k * N + j];
      }
      out[i * N + j] = acc + z[i * N + j];
    }
    float squares = 0.0f;
    for (int64_t j = 0; j < N; ++j) {
      squares += out[i * N + j] * out[i * N + j];
    }
    const float rms = sqrtf(squares / static_cast<float>(N) + 1e-5f);
    for (int64_t j = 0; j < N; ++j) {
      out[i * N + j] = out[i * N + j] * g[j] / rms;
    }
  }
}
