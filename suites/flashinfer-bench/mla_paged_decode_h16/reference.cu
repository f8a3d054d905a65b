// SPDX-License-Identifier: Apache-2.0
// Sequence b has one query and the keys of the pages kv_indices[kv_indptr[b]], ..., one each. A key is a part ckv,
// which is also its value, and a part kpe; all heads share it. output (batch_size, num_qo_heads, head_dim_ckv) is
// softmax(sm_scale (q_nope ckv^T + q_pe kpe^T)) ckv, and lse (batch_size, num_qo_heads) the base-2 logarithm of the sum
// of exponentials; of a sequence without keys they are 0 and minus infinity.
//@ launch attend grid=(cdiv(batch_size*num_qo_heads, 64)) block=(64) args=(q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale, output, lse, batch_size)

__device__ real product(const real* a, const real* b, int64_t length) {
  real sum = 0;
  for (int64_t d = 0; d < length; ++d) sum += a[d] * b[d];
  return sum;
}

extern "C" __global__ void attend(const real* q_nope, const real* q_pe, const real* ckv_cache, const real* kpe_cache,
                                  const int32_t* kv_indptr, const int32_t* kv_indices, real sm_scale, real* output,
                                  real* lse, int64_t batch_size) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // a query and its head
  if (row >= batch_size * num_qo_heads) return;
  const int64_t b = row / num_qo_heads;
  const int32_t* const pages = kv_indices + kv_indptr[b];
  const int64_t keys = kv_indptr[b + 1] - kv_indptr[b];
  const auto score = [&](int64_t j) {
    const int64_t page = pages[j];
    return sm_scale * (product(q_nope + row * head_dim_ckv, ckv_cache + page * head_dim_ckv, head_dim_ckv) +
                       product(q_pe + row * head_dim_kpe, kpe_cache + page * head_dim_kpe, head_dim_kpe));
  };
  real largest = -INFINITY;
  for (int64_t j = 0; j < keys; ++j) largest = fmax(largest, score(j));
  real* const result = output + row * head_dim_ckv;
  for (int64_t d = 0; d < head_dim_ckv; ++d) result[d] = 0;
  real total = 0;
  for (int64_t j = 0; j < keys; ++j) {
    const real weight = exp(score(j) - largest);
    const real* const value = ckv_cache + int64_t{pages[j]} * head_dim_ckv;
    total += weight;
    for (int64_t d = 0; d < head_dim_ckv; ++d) result[d] += weight * value[d];
  }
  if (keys > 0) {
    for (int64_t d = 0; d < head_dim_ckv; ++d) result[d] /= total;
  }
  lse[row] = keys > 0 ? (largest + log(total)) / log(real(2)) : real(-INFINITY);
}
