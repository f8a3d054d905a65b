// SPDX-License-Identifier: Apache-2.0
// Matrix product with a transposed left side: y (M, N) = transpose of lhs (K, M) times rhs (K, N).
#include "task.h"

extern "C" void reference(const real* lhs, const real* rhs, real* y, int64_t K, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += lhs[k * M + i] * rhs[k * N + j];
      }
      y[i * N + j] = sum;
    }
  }
}
