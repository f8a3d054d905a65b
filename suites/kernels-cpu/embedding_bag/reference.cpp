// SPDX-License-Identifier: Apache-2.0
// Sums of embeddings: y (B, D), where bag b names the rows of table (R, D) that stand in indices from offsets[b] to
// offsets[b + 1]. A row may be named more than once, and a bag may be empty: its sum is 0.
#include "task.h"

extern "C" void reference(const real* table, const int32_t* indices, const int32_t* offsets, real* y, int64_t, int64_t,
                          int64_t B, int64_t) {
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t d = 0; d < D; ++d) {
      real sum = 0;
      for (int64_t e = offsets[b]; e < offsets[b + 1]; ++e) sum += table[indices[e] * D + d];
      y[b * D + d] = sum;
    }
  }
}
