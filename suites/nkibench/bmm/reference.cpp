// SPDX-License-Identifier: Apache-2.0
// Batched matrix product: for every batch, y (M, N) = lhs (M, K) times rhs (K, N).
#include "task.h"

extern "C" void reference(const real* lhs, const real* rhs, real* y, int64_t B, int64_t M, int64_t N) {
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t j = 0; j < N; ++j) {
        real sum = 0;
        for (int64_t k = 0; k < K; ++k) {
          sum += lhs[(b * M + i) * K + k] * rhs[(b * K + k) * N + j];
        }
        y[(b * M + i) * N + j] = sum;
      }
    }
  }
}
