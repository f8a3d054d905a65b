// SPDX-License-Identifier: Apache-2.0
// For every batch: y (M, N) = softmax of lhs (M, K) times rhs (K, N) over the last axis. The maximum of the whole row
// is subtracted before exp, so that large products neither overflow nor lose the row.
#include <cmath>

#include "task.h"

extern "C" void reference(const real* lhs, const real* rhs, real* y, int64_t B, int64_t M, int64_t N) {
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < M; ++i) {
      real* row = y + (b * M + i) * N;
      for (int64_t j = 0; j < N; ++j) {
        real sum = 0;
        for (int64_t k = 0; k < K; ++k) {
          sum += lhs[(b * M + i) * K + k] * rhs[(b * K + k) * N + j];
        }
        row[j] = sum;
      }
      real largest = row[0];
      for (int64_t j = 1; j < N; ++j) {
        largest = std::fmax(largest, row[j]);
      }
      real total = 0;
      for (int64_t j = 0; j < N; ++j) {
        row[j] = std::exp(row[j] - largest);
        total += row[j];
      }
      for (int64_t j = 0; j < N; ++j) {
        row[j] /= total;
      }
    }
  }
}
