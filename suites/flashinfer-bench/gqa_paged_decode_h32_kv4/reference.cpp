// SPDX-License-Identifier: Apache-2.0
// Sequence b has the keys and values of the pages kv_indices[kv_indptr[b]], ..., one each, and one query. Query head h
// uses key-value head h / (num_qo_heads / num_kv_heads). output (batch_size, num_qo_heads, head_dim) is
// softmax(sm_scale q k^T) v, and lse (batch_size, num_qo_heads) log2(sum(exp(sm_scale q k^T))); of a sequence without
// keys they are 0 and minus infinity.
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

extern "C" void reference(const real* q, const real* k_cache, const real* v_cache, const int32_t* kv_indptr,
                          const int32_t* kv_indices, real sm_scale, real* output, real* lse, int64_t batch_size,
                          int64_t, int64_t, int64_t) {
  for (int64_t row = 0; row < batch_size * num_qo_heads; ++row) {
    const int64_t b = row / num_qo_heads;
    const int64_t kv_head = row % num_qo_heads / (num_qo_heads / num_kv_heads);
    const int32_t* const pages = kv_indices + kv_indptr[b];
    std::vector<real> p(static_cast<size_t>(kv_indptr[b + 1] - kv_indptr[b]));
    real largest = -std::numeric_limits<real>::infinity();
    for (size_t j = 0; j < p.size(); ++j) {
      const real* const key = k_cache + (pages[j] * num_kv_heads + kv_head) * head_dim;
      p[j] = sm_scale * product(q + row * head_dim, key);
      largest = std::max(largest, p[j]);
    }
    real total = 0;
    for (real& score : p) total += score = std::exp(score - largest);
    real* const result = output + row * head_dim;
    std::fill(result, result + head_dim, real(0));
    for (size_t j = 0; j < p.size(); ++j) {
      const real* const value = v_cache + (pages[j] * num_kv_heads + kv_head) * head_dim;
      for (int64_t d = 0; d < head_dim; ++d) result[d] += p[j] / total * value[d];
    }
    lse[row] = (largest + std::log(total)) / std::log(real(2));
  }
}
