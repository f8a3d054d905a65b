// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const int32_t* target, float* loss, int64_t M, int64_t V) {
  for (int64_t i = 0; i < M; ++i) {
    float largest = x[i * V];
    for (int64_t j = 1; j < V; ++j) {
      largest = x[i * V + j] > largest ? x[i * V + j] : largest;
    }
    float sum = 0.0f;
    for (int64_t j = 0; j < V; ++j) {
      sum += expf(x[i * V + j] - largest);
    }
    loss[i] = logf(sum) + largest - x[i * V + target[i]];
  }
}
