// SPDX-License-Identifier: Apache-2.0
// Sequence b has the queries qo_indptr[b], ..., and the keys of the pages kv_indices[kv_indptr[b]], ..., one each. Its
// queries are the last of its tokens: the last query sees all keys, the one before it all but one. A key is a part ckv,
// which is also its value, and a part kpe; all heads share it. output (total_q, num_qo_heads, head_dim_ckv) is
// softmax(sm_scale (q_nope ckv^T + q_pe kpe^T)) ckv over the keys that a query sees, and lse (total_q, num_qo_heads)
// the base-2 logarithm of the sum of exponentials; of a query that sees none they are 0 and minus infinity.
//@ launch attend grid=(total_q*cdiv(num_qo_heads, 8)) block=(128) args=(q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse)

// A block for a query and HEADS heads; each thread has EACH elements of their outputs.
enum { THREADS = 128, EACH = head_dim_ckv / THREADS, HEADS = 8, WHOLE = head_dim_ckv + head_dim_kpe };

/// Adds the products of a part of a key with the same part of all heads' queries.
__device__ void add_products(const real* key, const real* rows, int length, real* scores) {
  for (int d = 0; d < length; ++d) {
    const real element = key[d];
    for (int h = 0; h < HEADS; ++h) scores[h] += rows[h * WHOLE + d] * element;
  }
}

extern "C" __global__ void attend(const real* q_nope, const real* q_pe, const real* ckv_cache, const real* kpe_cache,
                                  const int32_t* qo_indptr, const int32_t* kv_indptr, const int32_t* kv_indices,
                                  real sm_scale, real* output, real* lse) {
  static_assert(num_qo_heads % HEADS == 0, "every block has all its heads");
  __shared__ real rows[HEADS * WHOLE];
  __shared__ real weights[HEADS][THREADS];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t query = blockIdx.x / (num_qo_heads / HEADS);
  const int64_t row = blockIdx.x * HEADS;  // of the first head
  int64_t b = 0;
  while (qo_indptr[b + 1] <= query) ++b;
  const int32_t* const pages = kv_indices + kv_indptr[b];
  const int64_t behind = qo_indptr[b + 1] - 1 - query;  // queries after this one
  const int64_t keys = kv_indptr[b + 1] - kv_indptr[b] - behind;
  for (int h = 0; h < HEADS; ++h) {
    for (int d = thread; d < head_dim_ckv; d += THREADS) rows[h * WHOLE + d] = q_nope[(row + h) * head_dim_ckv + d];
    for (int d = thread; d < head_dim_kpe; d += THREADS)
      rows[h * WHOLE + head_dim_ckv + d] = q_pe[(row + h) * head_dim_kpe + d];
  }
  real largest[HEADS];
  real total[HEADS] = {};
  real sums[HEADS][EACH] = {};
  for (int h = 0; h < HEADS; ++h) largest[h] = -INFINITY;
  for (int64_t first = 0; first < keys; first += THREADS) {
    const int count = keys - first < THREADS ? static_cast<int>(keys - first) : THREADS;
    __syncthreads();
    if (thread < count) {
      const int64_t page = pages[first + thread];
      real scores[HEADS] = {};
      add_products(ckv_cache + page * head_dim_ckv, rows, head_dim_ckv, scores);
      add_products(kpe_cache + page * head_dim_kpe, rows + head_dim_ckv, head_dim_kpe, scores);
      for (int h = 0; h < HEADS; ++h) weights[h][thread] = sm_scale * scores[h];
    }
    __syncthreads();
    real now[HEADS];
    for (int h = 0; h < HEADS; ++h) {
      now[h] = largest[h];
      for (int i = 0; i < count; ++i) now[h] = fmax(now[h], weights[h][i]);
    }
    __syncthreads();
    for (int h = 0; h < HEADS && thread < count; ++h) weights[h][thread] = exp(weights[h][thread] - now[h]);
    __syncthreads();
    for (int h = 0; h < HEADS; ++h) {
      const real kept = largest[h] == now[h] ? real(1) : exp(largest[h] - now[h]);
      total[h] *= kept;
      for (int d = 0; d < EACH; ++d) sums[h][d] *= kept;
      largest[h] = now[h];
    }
    for (int i = 0; i < count; ++i) {
      const real* const value = ckv_cache + int64_t{pages[first + i]} * head_dim_ckv;
      for (int h = 0; h < HEADS; ++h) {
        total[h] += weights[h][i];
        for (int d = 0; d < EACH; ++d) sums[h][d] += weights[h][i] * value[d * THREADS + thread];
      }
    }
  }
  for (int h = 0; h < HEADS; ++h) {
    for (int d = 0; d < EACH; ++d)
      output[(row + h) * head_dim_ckv + d * THREADS + thread] = keys > 0 ? sums[h][d] / total[h] : real(0);
    if (thread == 0) lse[row + h] = keys > 0 ? (largest[h] + log(total[h])) / log(real(2)) : real(-INFINITY);
  }
}
