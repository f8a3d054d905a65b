// SPDX-License-Identifier: Apache-2.0
//@ scratch low_rank float32 [M, R]
//@ launch reduce_rank grid=(cdiv(R, 32), cdiv(M, 32)) block=(32, 32) args=(x, a, low_rank, M)
//@ launch product grid=(cdiv(N, 32), cdiv(M, 32)) block=(32, 32) args=(x, w, low_rank, b, y, M)

enum { TILE = 32 };

extern "C" __global__ void reduce_rank(const float* x, const float* a, float* low_rank, int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < K; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < K ? x[row * K + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < K && column < R ? a[down * R + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < R) low_rank[row * R + column] = sum;
}

extern "C" __global__ void product(const float* x, const float* w, const float* low_rank, const float* b, float* y,
                                   int64_t M) {
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
  for (int64_t start = 0; start < R; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < R ? low_rank[row * R + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < R && column < N ? b[down * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) y[row * N + column] = sum;
}
