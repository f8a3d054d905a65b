// SPDX-License-Identifier: Apache-2.0
//@ launch matmul grid=(cdiv(N, 32), cdiv(M, 32)) block=(32, 32) args=(lhs, rhs, y, M)

enum { TILE = 32 };

extern "C" __global__ void matmul(const float* lhs, const float* rhs, float* y, int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < K; start += TILE) {
    const int64_t down = start + threadIdx.y;
    const int64_t left_row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = down < K && left_row < M ? lhs[down * M + left_row] : 0.0f;
    right[threadIdx.y][threadIdx.x] = down < K && column < N ? rhs[down * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[k][threadIdx.y] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) y[row * N + column] = sum;
}
