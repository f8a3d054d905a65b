// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* w_up, const float* w_gate, const float* w_down, float* y,
                       int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float hidden[N];
    for (int64_t j = 0; j < N; ++j) {
      float up = 0.0f;
      float gate = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        up += x[i * K + k] * w_up[k * N + j];
        gate += x[i * K + k] * w_gate[k * N + j];
      }
      hidden[j] = gate / (1.0f + expf(-gate)) * up;
    }
    for (int64_t k = 0; k < K; ++k) {
      float acc = 0.0f;
      for (int64_t j = 0; j < N; ++j) {
        acc += hidden[j] * w_down[j * K + k];
      }
      y[i * K + k] = acc;
    }
  }
}
