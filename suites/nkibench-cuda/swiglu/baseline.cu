// SPDX-License-Identifier: Apache-2.0
//@ scratch hidden float32 [M, N]
//@ launch up_and_gate grid=(cdiv(N, 32), cdiv(M, 32)) block=(32, 32) args=(x, w_up, w_gate, hidden, M)
//@ launch down_product grid=(cdiv(K, 32), cdiv(M, 32)) block=(32, 32) args=(hidden, w_down, y, M)

enum { TILE = 32 };

extern "C" __global__ void up_and_gate(const float* x, const float* w_up, const float* w_gate, float* hidden,
                                       int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  __shared__ float second[TILE][TILE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float up = 0.0f;
  float gate = 0.0f;
  for (int64_t start = 0; start < K; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < K ? x[row * K + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < K && column < N ? w_up[down * N + column] : 0.0f;
    second[threadIdx.y][threadIdx.x] = down < K && column < N ? w_gate[down * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      up += left[threadIdx.y][k] * right[k][threadIdx.x];
      gate += left[threadIdx.y][k] * second[k][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < M && column < N) hidden[row * N + column] = gate / (1.0f + expf(-gate)) * up;
}

extern "C" __global__ void down_product(const float* hidden, const float* w_down, float* y, int64_t M) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < N; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < M && across < N ? hidden[row * N + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < N && column < K ? w_down[down * K + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < K) y[row * K + column] = sum;
}
