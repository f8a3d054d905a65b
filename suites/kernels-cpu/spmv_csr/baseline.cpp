// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const int32_t* indptr, const int32_t* columns, const float* values, const float* x, float* y,
                       int64_t len_indptr, int64_t M, int64_t N, int64_t total) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
      sum += values[e] * x[columns[e]];
    }
    y[i] = sum;
  }
}
