// SPDX-License-Identifier: Apache-2.0
#include "task.h"

extern "C" void kernel(const int8_t* a, const int8_t* b, int32_t* c, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      int32_t sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += a[i * K + k] * b[k * N + j];
      }
      c[i * N + j] = sum;
    }
  }
}
