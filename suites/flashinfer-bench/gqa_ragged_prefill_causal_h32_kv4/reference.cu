// SPDX-License-Identifier: Apache-2.0
// Sequence b has the queries qo_indptr[b], ..., and the keys and values kv_indptr[b], .... Its queries are the last of
// its tokens: the last query sees all keys, the one before it all but one. Query head h uses key-value head h /
// (num_qo_heads / num_kv_heads). output (total_q, num_qo_heads, head_dim) is softmax(sm_scale q k^T) v over the keys
// that a query sees, and lse (total_q, num_qo_heads) is log2(sum(exp(sm_scale q k^T))); of a query that sees none they
// are 0 and minus infinity.
//@ launch attend grid=(cdiv(total_q*num_qo_heads, 64)) block=(64) args=(q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse, total_q)

__device__ real product(const real* a, const real* b) {
  real sum = 0;
  for (int64_t d = 0; d < head_dim; ++d) sum += a[d] * b[d];
  return sum;
}

extern "C" __global__ void attend(const real* q, const real* k, const real* v, const int32_t* qo_indptr,
                                  const int32_t* kv_indptr, real sm_scale, real* output, real* lse, int64_t total_q) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // a query and its head
  if (row >= total_q * num_qo_heads) return;
  const int64_t query = row / num_qo_heads;
  int64_t b = 0;
  while (qo_indptr[b + 1] <= query) ++b;
  const int64_t kv_head = row % num_qo_heads / (num_qo_heads / num_kv_heads);
  const int64_t behind = qo_indptr[b + 1] - 1 - query;  // queries after this one
  const int64_t keys = kv_indptr[b + 1] - kv_indptr[b] - behind;
  const auto score = [&](int64_t j) {
    return sm_scale * product(q + row * head_dim, k + ((kv_indptr[b] + j) * num_kv_heads + kv_head) * head_dim);
  };
  real largest = -INFINITY;
  for (int64_t j = 0; j < keys; ++j) largest = fmax(largest, score(j));
  real* const result = output + row * head_dim;
  for (int64_t d = 0; d < head_dim; ++d) result[d] = 0;
  real total = 0;
  for (int64_t j = 0; j < keys; ++j) {
    const real weight = exp(score(j) - largest);
    const real* const value = v + ((kv_indptr[b] + j) * num_kv_heads + kv_head) * head_dim;
    total += weight;
    for (int64_t d = 0; d < head_dim; ++d) result[d] += weight * value[d];
  }
  if (keys > 0) {
    for (int64_t d = 0; d < head_dim; ++d) result[d] /= total;
  }
  lse[row] = keys > 0 ? (largest + log(total)) / log(real(2)) : real(-INFINITY);
}
