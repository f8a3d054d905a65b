// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* delta, const float* a, const float* b, const float* c, const float* u, float* y,
                       int64_t M) {
  for (int64_t i = 0; i < C; ++i) {
    float h[S];
    for (int64_t s = 0; s < S; ++s) {
      h[s] = 0.0f;
    }
    for (int64_t t = 0; t < M; ++t) {
      float acc = 0.0f;
      for (int64_t s = 0; s < S; ++s) {
        h[s] = expf(delta[i * M + t] * a[i * S + s]) * h[s] + delta[i * M + t] * b[s * M + t] * u[i * M + t];
        acc += c[s * M + t] * h[s];
      }
      y[i * M + t] = acc;
    }
  }
}
