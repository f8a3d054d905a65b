// SPDX-License-Identifier: Apache-2.0
// Sequence b has the queries qo_indptr[b], ..., and the keys and values kv_indptr[b], .... Its queries are the last of
// its tokens: the last query sees all keys, the one before it all but one. Query head h uses key-value head h /
// (num_qo_heads / num_kv_heads). output (total_q, num_qo_heads, head_dim) is softmax(sm_scale q k^T) v over the keys
// that a query sees, and lse (total_q, num_qo_heads) is log2(sum(exp(sm_scale q k^T))); of a query that sees none they
// are 0 and minus infinity.
//@ launch attend grid=(total_q*num_kv_heads) block=(128) args=(q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse)

// A block for a query and the HEADS heads that share its keys; each thread has EACH elements of their outputs.
enum { THREADS = 128, EACH = head_dim / THREADS, HEADS = num_qo_heads / num_kv_heads };

extern "C" __global__ void attend(const real* q, const real* k, const real* v, const int32_t* qo_indptr,
                                  const int32_t* kv_indptr, real sm_scale, real* output, real* lse) {
  __shared__ real rows[HEADS][head_dim];
  __shared__ real weights[HEADS][THREADS];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t query = blockIdx.x / num_kv_heads;
  const int64_t kv_head = blockIdx.x % num_kv_heads;
  const int64_t row = query * num_qo_heads + kv_head * HEADS;  // of the first head
  int64_t b = 0;
  while (qo_indptr[b + 1] <= query) ++b;
  const int64_t behind = qo_indptr[b + 1] - 1 - query;  // queries after this one
  const int64_t keys = kv_indptr[b + 1] - kv_indptr[b] - behind;
  for (int i = thread; i < HEADS * head_dim; i += THREADS) rows[i / head_dim][i % head_dim] = q[row * head_dim + i];
  real largest[HEADS];
  real total[HEADS] = {};
  real sums[HEADS][EACH] = {};
  for (int h = 0; h < HEADS; ++h) largest[h] = -INFINITY;
  for (int64_t first = 0; first < keys; first += THREADS) {
    const int count = keys - first < THREADS ? static_cast<int>(keys - first) : THREADS;
    __syncthreads();
    if (thread < count) {
      const real* const key = k + ((kv_indptr[b] + first + thread) * num_kv_heads + kv_head) * head_dim;
      real scores[HEADS] = {};
      for (int d = 0; d < head_dim; ++d) {
        const real element = key[d];
        for (int h = 0; h < HEADS; ++h) scores[h] += rows[h][d] * element;
      }
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
      const real* const value = v + ((kv_indptr[b] + first + i) * num_kv_heads + kv_head) * head_dim;
      for (int h = 0; h < HEADS; ++h) {
        total[h] += weights[h][i];
        for (int d = 0; d < EACH; ++d) sums[h][d] += weights[h][i] * value[d * THREADS + thread];
      }
    }
  }
  for (int h = 0; h < HEADS; ++h) {
    for (int d = 0; d < EACH; ++d)
      output[(row + h) * head_dim + d * THREADS + thread] = keys > 0 ? sums[h][d] / total[h] : real(0);
    if (thread == 0) lse[row + h] = keys > 0 ? (largest[h] + log(total[h])) / log(real(2)) : real(-INFINITY);
  }
}
