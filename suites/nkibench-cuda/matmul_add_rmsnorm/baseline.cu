// SPDX-License-Identifier: Apache-2.0
//@ launch matmul_add grid=(cdiv(N, 32), cdiv(M, 32)) block=(32, 32) args=(x, w, z, out, M)
//@ launch normalize grid=(M) block=(256) args=(g, out)

enum { TILE = 32 };

extern "C" __global__ void matmul_add(const float* x, const float* w, const float* z, float* out, int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < K; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < K ? x[row * K + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < K && column < N ? w[down * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) out[row * N + column] = sum + z[row * N + column];
}

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

extern "C" __global__ void normalize(const float* g, float* out) {
  __shared__ float shared[256];
  float* const row = out + static_cast<int64_t>(blockIdx.x) * N;
  float squares = 0.0f;
  for (int64_t j = threadIdx.x; j < N; j += blockDim.x) squares += row[j] * row[j];
  const float rms = sqrtf(block_sum(squares, shared) / static_cast<float>(N) + 1e-5f);
  for (int64_t j = threadIdx.x; j < N; j += blockDim.x) row[j] = row[j] * g[j] / rms;
}
