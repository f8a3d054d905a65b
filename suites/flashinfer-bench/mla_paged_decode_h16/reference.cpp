// SPDX-License-Identifier: Apache-2.0
// Sequence b has one query and the keys of the pages kv_indices[kv_indptr[b]], ..., one each. A key is a part ckv,
// which is also its value, and a part kpe; all heads share it. output (batch_size, num_qo_heads, head_dim_ckv) is
// softmax(sm_scale (q_nope ckv^T + q_pe kpe^T)) ckv, and lse (batch_size, num_qo_heads) the base-2 logarithm of the sum
// of exponentials; of a sequence without keys they are 0 and minus infinity.
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
                          const int32_t* kv_indptr, const int32_t* kv_indices, real sm_scale, real* output, real* lse,
                          int64_t batch_size, int64_t, int64_t, int64_t) {
  for (int64_t row = 0; row < batch_size * num_qo_heads; ++row) {
    const int64_t b = row / num_qo_heads;
    const int32_t* const pages = kv_indices + kv_indptr[b];
    std::vector<real> p(static_cast<size_t>(kv_indptr[b + 1] - kv_indptr[b]));
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
