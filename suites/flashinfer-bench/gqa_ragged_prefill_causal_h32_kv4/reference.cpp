// SPDX-License-Identifier: Apache-2.0
// Sequence b has the queries qo_indptr[b], ..., and the keys and values kv_indptr[b], .... Its queries are the last of
// its tokens: the last query sees all keys, the one before it all but one. Query head h uses key-value head h /
// (num_qo_heads / num_kv_heads). output (total_q, num_qo_heads, head_dim) is softmax(sm_scale q k^T) v over the keys
// that a query sees, and lse (total_q, num_qo_heads) is log2(sum(exp(sm_scale q k^T))); of a query that sees none they
// are 0 and minus infinity.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "task.h"

namespace {

real product(const real* a, const real* b) {
  real sum = 0;
  for (int64_t d = 0; d < head_dim; ++d) sum += a[d] * b[d];
  return sum;
}

}  // namespace

extern "C" void reference(const real* q, const real* k, const real* v, const int32_t* qo_indptr,
                          const int32_t* kv_indptr, real sm_scale, real* output, real* lse, int64_t len_indptr, int64_t,
                          int64_t) {
  for (int64_t b = 0; b + 1 < len_indptr; ++b) {
    const int64_t keys = kv_indptr[b + 1] - kv_indptr[b];
    for (int64_t row = qo_indptr[b] * num_qo_heads; row < qo_indptr[b + 1] * num_qo_heads; ++row) {
      const int64_t behind = qo_indptr[b + 1] - 1 - row / num_qo_heads;  // queries after this one
      const int64_t kv_head = row % num_qo_heads / (num_qo_heads / num_kv_heads);
      std::vector<real> p(static_cast<size_t>(std::max<int64_t>(keys - behind, 0)));
      real largest = -std::numeric_limits<real>::infinity();
      for (size_t j = 0; j < p.size(); ++j) {
        const real* const key = k + ((kv_indptr[b] + static_cast<int64_t>(j)) * num_kv_heads + kv_head) * head_dim;
        p[j] = sm_scale * product(q + row * head_dim, key);
        largest = std::max(largest, p[j]);
      }
      real total = 0;
      for (real& score : p) total += score = std::exp(score - largest);
      real* const result = output + row * head_dim;
      std::fill(result, result + head_dim, real(0));
      for (size_t j = 0; j < p.size(); ++j) {
        const real* const value = v + ((kv_indptr[b] + static_cast<int64_t>(j)) * num_kv_heads + kv_head) * head_dim;
        for (int64_t d = 0; d < head_dim; ++d) result[d] += p[j] / total * value[d];
      }
      lse[row] = (largest + std::log(total)) / std::log(real(2));
    }
  }
}
