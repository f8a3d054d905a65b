// SPDX-License-Identifier: Apache-2.0
// Matrix product: y (M, N) = lhs (M, K) times rhs (K, N).
#include "task.h"

extern "C" void reference(const real* lhs, const real* rhs, real* y, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += lhs[i * K + k] * rhs[k * N + j];
      }
      y[i * N + j] = sum;
    }
  }
}
