// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t j = 0; j < N; ++j) {
        float acc = 0.0f;
        for (int64_t k = 0; k < K; ++k) {
          acc += lhs[(b * M + i) * K + k] * rhs[(b * K + k) * N + j];
        }
        y[(b * M + i) * N + j] = acc;
      }
      float largest = y[(b * M + i) * N];
      for (int64_t j = 1; j < N; ++j) {
        largest = fmaxf(largest, y[(b * M + i) * N + j]);
      }
      float total = 0.0f;
      for (int64_t j = 0; j < N; ++j) {
        y[(b * M + i) * N + j] = expf(y[(b * M + i) * N + j] - largest);
        total += y[(b * M + i) * N + j];
      }
      for (int64_t j = 0; j < N; ++j) {
        y[(b * M + i) * N + j] /= total;
      }
    }
  }
}
