// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* theta, const float* m, const float* v, const float* g, float* theta_new, int64_t M,
                       int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      const float gradient = g[i * N + j];
      const float first = 0.9f * m[i * N + j] + 0.1f * gradient;
      const float second = 0.999f * v[i * N + j] + 0.001f * gradient * gradient;
      const float decayed = theta[i * N + j] - 1e-5f * theta[i * N + j];
      theta_new[i * N + j] = decayed - 0.01f * first / (sqrtf(1000.0f * second) + 1e-8f);
    }
  }
}
