// SPDX-License-Identifier: Apache-2.0
//@ launch bmm grid=(cdiv(N, 32), cdiv(M, 32), B) block=(32, 32) args=(lhs, rhs, y, M)
//@ launch softmax_rows grid=(B*M) block=(256) args=(y)

enum { TILE = 32 };

extern "C" __global__ void bmm(const float* lhs, const float* rhs, float* y, int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const float* const lefts = lhs + blockIdx.z * (M * K);
  const float* const rights = rhs + blockIdx.z * (int64_t(K) * N);
  float* const products = y + blockIdx.z * (M * N);
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < K; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < K ? lefts[row * K + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < K && column < N ? rights[down * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) products[row * N + column] = sum;
}

/// The maximum over the block's 256 threads, for all of them.
__device__ float block_max(float value, float* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
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

extern "C" __global__ void softmax_rows(float* y) {
  __shared__ float shared[256];
  float* const row = y + static_cast<int64_t>(blockIdx.x) * N;
  float largest = row[0];
  for (int64_t j = threadIdx.x; j < N; j += blockDim.x) largest = fmaxf(largest, row[j]);
  largest = block_max(largest, shared);
  float total = 0.0f;
  for (int64_t j = threadIdx.x; j < N; j += blockDim.x) {
    row[j] = expf(row[j] - largest);
    total += row[j];
  }
  total = block_sum(total, shared);
  for (int64_t j = threadIdx.x; j < N; j += blockDim.x) row[j] /= total;
}
