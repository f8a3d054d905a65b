// SPDX-License-Identifier: Apache-2.0
//@ launch layernorm grid=(M) block=(256) args=(x, gain, y, N)

__device__ real block_sum(real value, real* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const real result = shared[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void layernorm(const real* x, const real* gain, real* y, int64_t N) {
  __shared__ real shared[256];
  const real* const row = x + static_cast<int64_t>(blockIdx.x) * N;
  real sum = 0;
  for (int64_t j = threadIdx.x; j < N; j += 256) sum += row[j];
  const real mean = block_sum(sum, shared) / static_cast<real>(N);
  real squares = 0;
  for (int64_t j = threadIdx.x; j < N; j += 256) squares += (row[j] - mean) * (row[j] - mean);
  const real deviation = sqrt(block_sum(squares, shared) / static_cast<real>(N) + real(1e-5));
  for (int64_t j = threadIdx.x; j < N; j += 256) {
    y[static_cast<int64_t>(blockIdx.x) * N + j] = (row[j] - mean) / deviation * gain[j];
  }
}
