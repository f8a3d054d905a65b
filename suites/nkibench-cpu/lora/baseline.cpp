// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const float* x, const float* w, const float* a, const float* b, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float low_rank[R];
    for (int64_t r = 0; r < R; ++r) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += x[i * K + k] * a[k * R + r];
      }
      low_rank[r] = acc;
    }
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += x[i * K + k] * w[k * N + j];
      }
      for (int64_t r = 0; r < R; ++r) {
        acc += low_rank[r] * b[r * N + j];
      }
      y[i * N + j] = acc;
    }
  }
}
