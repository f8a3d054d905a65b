// SPDX-License-Identifier: Apache-2.0
// The product of two matrices of bytes, a (M, K) and b (K, N), in 32-bit integers: c (M, N).
#include "task.h"

extern "C" void reference(const int8_t* a, const int8_t* b, int32_t* c, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      int32_t sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += int32_t{a[i * K + k]} * int32_t{b[k * N + j]};
      c[i * N + j] = sum;
    }
  }
}
