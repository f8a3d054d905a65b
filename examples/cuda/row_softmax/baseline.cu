// SPDX-License-Identifier: Apache-2.0
// One block a row: the maximum, then the sum, each reduced in shared memory.
//@ launch softmax grid=(M) block=(256) args=(x, y, N)

/// The block's 256 values combined into one, for all threads.
template <class Combine>
__device__ float reduced(float value, float* shared, Combine combine) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void softmax(const float* x, float* y, int64_t N) {
  __shared__ float shared[256];
  const float* const row = x + blockIdx.x * N;
  float largest = row[0];
  for (int64_t j = threadIdx.x; j < N; j += 256) largest = fmaxf(largest, row[j]);
  largest = reduced(largest, shared, [](float a, float b) { return fmaxf(a, b); });
  float total = 0.0f;
  for (int64_t j = threadIdx.x; j < N; j += 256) total += expf(row[j] - largest);
  total = reduced(total, shared, [](float a, float b) { return a + b; });
  for (int64_t j = threadIdx.x; j < N; j += 256) y[blockIdx.x * N + j] = expf(row[j] - largest) / total;
}
