// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const float* x, const float* w, float* y, int64_t H, int64_t W, int64_t P, int64_t Q) {
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t i = 0; i < P; ++i) {
      for (int64_t j = 0; j < Q; ++j) {
        float sum = 0.0f;
        for (int64_t c = 0; c < C; ++c) {
          for (int64_t r = 0; r < R; ++r) {
            for (int64_t s = 0; s < S; ++s) {
              sum += w[((k * C + c) * R + r) * S + s] * x[(c * H + i + r) * W + j + s];
            }
          }
        }
        y[(k * P + i) * Q + j] = sum;
      }
    }
  }
}
