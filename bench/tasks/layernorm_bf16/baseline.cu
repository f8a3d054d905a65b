// SPDX-License-Identifier: Apache-2.0
//@ launch layernorm grid=(M) block=(256) args=(x, gain, y, N)

#include <cuda_bf16.h>

/// The sum over the block's 256 threads, for all of them.
__device__ float block_sum(float value, float* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void layernorm(const __nv_bfloat16* x, const __nv_bfloat16* gain, __nv_bfloat16* y, int64_t N) {
  __shared__ float shared[256];
  const __nv_bfloat16* const row = x + static_cast<int64_t>(blockIdx.x) * N;
  __nv_bfloat16* const out = y + static_cast<int64_t>(blockIdx.x) * N;
  float sum = 0.0f;
  for (int64_t j = threadIdx.x; j < N; j += 256) sum += __bfloat162float(row[j]);
  const float mean = block_sum(sum, shared) / static_cast<float>(N);
  float squares = 0.0f;
  for (int64_t j = threadIdx.x; j < N; j += 256) {
    const float difference = __bfloat162float(row[j]) - mean;
    squares += difference * difference;
  }
  const float inverse = rsqrtf(block_sum(squares, shared) / static_cast<float>(N) + 1e-5f);
  for (int64_t j = threadIdx.x; j < N; j += 256) {
    out[j] = __float2bfloat16((__bfloat162float(row[j]) - mean) * inverse * __bfloat162float(gain[j]));
  }
}
