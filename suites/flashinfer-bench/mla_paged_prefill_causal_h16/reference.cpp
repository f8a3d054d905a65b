// SPDX-License-Identifier: Apache-2.0
// Sequence b has the queries qo_indptr[b], ..., and the keys of the pages kv_indices[kv_indptr[b]], ..., one each. Its
// queries are the last of its tokens: the last query sees all keys, the one before it all but one. A key is a part ckv,
// which is also its value, and a part kpe; all heads share it. output (total_q, num_qo_heads, head_dim_ckv) is
// softmax(sm_scale (q_nope ckv^T + q_pe kpe^T)) ckv over the keys that a query sees, and lse (total_q, num_qo_heads)
// the base-2 logarithm of the sum of exponentials; of a query that sees none they are 0 and minus infinity.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "task.h"

namespace {

real product(const real* a, const real* b, int64_t length) {
  real sum = 0;
  for (int64_t d = 0; d < length; ++d) sum += a[d] * b[d];
  return sum;
}

}  // namespace

extern "C" void reference(const real* q_nope, const real* q_pe, const real* ckv_cache, const real* kpe_cache,
                          const int32_t* qo_indptr, const int32_t* kv_indptr, const int32_t* kv_indices, real sm_scale,
                          real* output, real* lse, int64_t, int64_t, int64_t len_indptr, int64_t) {
  for (int64_t b = 0; b + 1 < len_indptr; ++b) {
    const int32_t* const pages = kv_indices + kv_indptr[b];
    const int64_t keys = kv_indptr[b + 1] - kv_indptr[b];
    for (int64_t row = qo_indptr[b] * num_qo_heads; row < qo_indptr[b + 1] * num_qo_heads; ++row) {
      const int64_t behind = qo_indptr[b + 1] - 1 - row / num_qo_heads;  // queries after this one
      std::vector<real> p(static_cast<size_t>(std::max<int64_t>(keys - behind, 0)));
      real largest = -std::numeric_limits<real>::infinity();
      for (size_t j = 0; j < p.size(); ++j) {
        const int64_t page = pages[j];
        p[j] = sm_scale * (product(q_nope + row * head_dim_ckv, ckv_cache + page * head_dim_ckv, head_dim_ckv) +
                           product(q_pe + row * head_dim_kpe, kpe_cache + page * head_dim_kpe, head_dim_kpe));
        largest = std::max(largest, p[j]);
      }
      real total = 0;
      for (real& score : p) total += score = std::exp(score - largest);
      real* const result = output + row * head_dim_ckv;
      std::fill(result, result + head_dim_ckv, real(0));
      for (size_t j = 0; j < p.size(); ++j) {
        const real* const value = ckv_cache + int64_t{pages[j]} * head_dim_ckv;
        for (int64_t d = 0; d < head_dim_ckv; ++d) result[d] += p[j] / total * value[d];
      }
      lse[row] = (largest + std::log(total)) / std::log(real(2));
    }
  }
}
