// SPDX-License-Identifier: Apache-2.0
// c (M, N) = a (M, K) transpose(b (N, K)).
#include "task.h"

extern "C" void reference(const real* a, const real* b, real* c, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[j * K + k];
      c[i * N + j] = sum;
    }
  }
}
