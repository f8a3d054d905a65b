// SPDX-License-Identifier: Apache-2.0
//@ scratch normed float32 [M, K]
//@ launch normalize grid=(M) block=(256) args=(x, normed)
//@ launch matmul grid=(cdiv(N, 32), cdiv(M, 32)) block=(32, 32) args=(normed, w, y, M)

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

extern "C" __global__ void normalize(const float* x, float* normed) {
  __shared__ float shared[256];
  const float* const row = x + static_cast<int64_t>(blockIdx.x) * K;
  float squares = 0.0f;
  for (int64_t k = threadIdx.x; k < K; k += blockDim.x) squares += row[k] * row[k];
  const float rms = sqrtf(block_sum(squares, shared) / static_cast<float>(K));
  for (int64_t k = threadIdx.x; k < K; k += blockDim.x) normed[static_cast<int64_t>(blockIdx.x) * K + k] = row[k] / rms;
}

enum { TILE = 32 };

extern "C" __global__ void matmul(const float* normed, const float* w, float* y, int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < K; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < K ? normed[row * K + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < K && column < N ? w[down * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) y[row * N + column] = sum;
}
