// SPDX-License-Identifier: Apache-2.0
// Low-rank adapted product: y (M, N) = x (M, K) times w (K, N), plus (x times a (K, R)) times b (R, N).
#include <vector>

#include "task.h"

extern "C" void reference(const real* x, const real* w, const real* a, const real* b, real* y, int64_t M, int64_t N,
                          int64_t K, int64_t R) {
  for (int64_t i = 0; i < M; ++i) {
    std::vector<real> low_rank(static_cast<size_t>(R));
    for (int64_t r = 0; r < R; ++r) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += x[i * K + k] * a[k * R + r];
      }
      low_rank[r] = sum;
    }
    for (int64_t j = 0; j < N; ++j) {
      real dense = 0;
      for (int64_t k = 0; k < K; ++k) {
        dense += x[i * K + k] * w[k * N + j];
      }
      real adapted = 0;
      for (int64_t r = 0; r < R; ++r) {
        adapted += low_rank[r] * b[r * N + j];
      }
      y[i * N + j] = dense + adapted;
    }
  }
}
