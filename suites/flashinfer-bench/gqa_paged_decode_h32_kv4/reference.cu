// SPDX-License-Identifier: Apache-2.0
// Sequence b has the keys and values of the pages kv_indices[kv_indptr[b]], ..., one each, and one query. Query head h
// uses key-value head h / (num_qo_heads / num_kv_heads). output (batch_size, num_qo_heads, head_dim) is
// softmax(sm_scale q k^T) v, and lse (batch_size, num_qo_heads) log2(sum(exp(sm_scale q k^T))); of a sequence without
// keys they are 0 and minus infinity.
//@ launch attend grid=(batch_size*num_qo_heads) block=(128) args=(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse)

// A block for a query and its head; each thread has EACH elements of the output.
enum { THREADS = 128, EACH = head_dim / THREADS };

__device__ real product(const real* a, const real* b) {
  real sum = 0;
  for (int64_t d = 0; d < head_dim; ++d) sum += a[d] * b[d];
  return sum;
}

extern "C" __global__ void attend(const real* q, const real* k_cache, const real* v_cache, const int32_t* kv_indptr,
                                  const int32_t* kv_indices, real sm_scale, real* output, real* lse) {
  __shared__ real weights[THREADS];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t row = blockIdx.x;
  const int64_t b = row / num_qo_heads;
  const int64_t kv_head = row % num_qo_heads / (num_qo_heads / num_kv_heads);
  const int32_t* const pages = kv_indices + kv_indptr[b];
  const int64_t keys = kv_indptr[b + 1] - kv_indptr[b];
  const auto score = [&](int64_t j) {
    return sm_scale * product(q + row * head_dim, k_cache + (pages[j] * num_kv_heads + kv_head) * head_dim);
  };
  real largest = -INFINITY;
  real total = 0;
  real sums[EACH] = {};
  for (int64_t first = 0; first < keys; first += THREADS) {
    const int count = keys - first < THREADS ? static_cast<int>(keys - first) : THREADS;
    __syncthreads();
    if (thread < count) weights[thread] = score(first + thread);
    __syncthreads();
    real now = largest;
    for (int i = 0; i < count; ++i) now = fmax(now, weights[i]);
    __syncthreads();
    if (thread < count) weights[thread] = exp(weights[thread] - now);
    __syncthreads();
    const real kept = largest == now ? real(1) : exp(largest - now);
    total *= kept;
    for (int d = 0; d < EACH; ++d) sums[d] *= kept;
    for (int i = 0; i < count; ++i) {
      const real* const value = v_cache + (pages[first + i] * num_kv_heads + kv_head) * head_dim;
      total += weights[i];
      for (int d = 0; d < EACH; ++d) sums[d] += weights[i] * value[d * THREADS + thread];
    }
    largest = now;
  }
  for (int d = 0; d < EACH; ++d) output[row * head_dim + d * THREADS + thread] = keys > 0 ? sums[d] / total : real(0);
  if (thread == 0) lse[row] = keys > 0 ? (largest + log(total)) / log(real(2)) : real(-INFINITY);
}
