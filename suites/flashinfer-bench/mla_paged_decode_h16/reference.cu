// SPDX-License-Identifier: Apache-2.0
// Sequence b has one query and the keys of the pages kv_indices[kv_indptr[b]], ..., one each. A key is a part ckv,
// which is also its value, and a part kpe; all heads share it. output (batch_size, num_qo_heads, head_dim_ckv) is
// softmax(sm_scale (q_nope ckv^T + q_pe kpe^T)) ckv, and lse (batch_size, num_qo_heads) the base-2 logarithm of the sum
// of exponentials; of a sequence without keys they are 0 and minus infinity.
//@ launch attend grid=(batch_size*num_qo_heads) block=(128) args=(q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale, output, lse)

// A block for a query and its head; each thread has EACH elements of the output.
enum { THREADS = 128, EACH = head_dim_ckv / THREADS };

__device__ real product(const real* a, const real* b, int64_t length) {
  real sum = 0;
  for (int64_t d = 0; d < length; ++d) sum += a[d] * b[d];
  return sum;
}

extern "C" __global__ void attend(const real* q_nope, const real* q_pe, const real* ckv_cache, const real* kpe_cache,
                                  const int32_t* kv_indptr, const int32_t* kv_indices, real sm_scale, real* output,
                                  real* lse) {
  __shared__ real weights[THREADS];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t row = blockIdx.x;
  const int64_t b = row / num_qo_heads;
  const int32_t* const pages = kv_indices + kv_indptr[b];
  const int64_t keys = kv_indptr[b + 1] - kv_indptr[b];
  const auto score = [&](int64_t j) {
    const int64_t page = pages[j];
    return sm_scale * (product(q_nope + row * head_dim_ckv, ckv_cache + page * head_dim_ckv, head_dim_ckv) +
                       product(q_pe + row * head_dim_kpe, kpe_cache + page * head_dim_kpe, head_dim_kpe));
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
      const real* const value = ckv_cache + int64_t{pages[first + i]} * head_dim_ckv;
      total += weights[i];
      for (int d = 0; d < EACH; ++d) sums[d] += weights[i] * value[d * THREADS + thread];
    }
    largest = now;
  }
  for (int d = 0; d < EACH; ++d) output[row * head_dim_ckv + d * THREADS + thread] = keys > 0 ? sums[d] / total : real(0);
  if (thread == 0) lse[row] = keys > 0 ? (largest + log(total)) / log(real(2)) : real(-INFINITY);
}
