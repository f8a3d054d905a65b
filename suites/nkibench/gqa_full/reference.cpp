// SPDX-License-Identifier: Apache-2.0
// Grouped-query attention without a mask: out (B, QH, N, D) = softmax(q k^T / sqrt(D)) v for every batch and query
// head, with q (B, QH, N, D), k and v (B, KH, N, D); query head h uses key-value head h / (QH / KH). The maximum of the
// whole row is subtracted before exp.
#include <cmath>
#include <vector>

#include "task.h"

extern "C" void reference(const real* q, const real* k, const real* v, real* out, int64_t N, int64_t QH, int64_t KH,
                          int64_t D) {
  const real scale = real(1) / std::sqrt(static_cast<real>(D));
  std::vector<real> p(static_cast<size_t>(N));
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t h = 0; h < QH; ++h) {
      const int64_t query_head = b * QH + h;
      const int64_t kv_head = b * KH + h / (QH / KH);
      for (int64_t i = 0; i < N; ++i) {
        for (int64_t j = 0; j < N; ++j) {
          real sum = 0;
          for (int64_t d = 0; d < D; ++d) {
            sum += q[(query_head * N + i) * D + d] * k[(kv_head * N + j) * D + d];
          }
          p[j] = sum * scale;
        }
        real largest = p[0];
        for (int64_t j = 1; j < N; ++j) {
          largest = std::fmax(largest, p[j]);
        }
        real total = 0;
        for (int64_t j = 0; j < N; ++j) {
          p[j] = std::exp(p[j] - largest);
          total += p[j];
        }
        for (int64_t d = 0; d < D; ++d) {
          real sum = 0;
          for (int64_t j = 0; j < N; ++j) {
            sum += p[j] / total * v[(kv_head * N + j) * D + d];
          }
          out[(query_head * N + i) * D + d] = sum;
        }
      }
    }
  }
}
