// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += lhs[k * M + i] * rhs[k * N + j];
      }
      y[i * N + j] = acc;
    }
  }
}
