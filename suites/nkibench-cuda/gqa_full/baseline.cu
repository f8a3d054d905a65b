// SPDX-License-Identifier: Apache-2.0
//@ scratch p float32 [B, QH, N, N]
//@ launch scores grid=(cdiv(N, 32), cdiv(N, 32), B*QH) block=(32, 32) args=(q, k, p, N)
//@ launch softmax_rows grid=(B*QH*N) block=(256) args=(p, N)
//@ launch weighted_sum grid=(cdiv(D, 32), cdiv(N, 32), B*QH) block=(32, 32) args=(p, v, out, N)

enum { TILE = 32 };

extern "C" __global__ void scores(const float* q, const float* k, float* p, int64_t N) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE + 1];
  const int64_t query_head = blockIdx.z;
  const int64_t kv_head = query_head / QH * KH + query_head % QH / (QH / KH);
  const float* const queries = q + query_head * N * D;
  const float* const keys = k + kv_head * N * D;
  float* const result = p + query_head * N * N;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < D; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < N && across < D ? queries[row * D + across] : 0.0f;
    const int64_t key = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = key < N && across < D ? keys[key * D + across] : 0.0f;
    __syncthreads();
    for (int d = 0; d < TILE; ++d) sum += left[threadIdx.y][d] * right[threadIdx.x][d];
    __syncthreads();
  }
  if (row < N && column < N) result[row * N + column] = sum / sqrtf(static_cast<float>(D));
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

extern "C" __global__ void softmax_rows(float* p, int64_t N) {
  __shared__ float shared[256];
  float* const row = p + static_cast<int64_t>(blockIdx.x) * N;
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

extern "C" __global__ void weighted_sum(const float* p, const float* v, float* out, int64_t N) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int64_t query_head = blockIdx.z;
  const int64_t kv_head = query_head / QH * KH + query_head % QH / (QH / KH);
  const float* const weights = p + query_head * N * N;
  const float* const values = v + kv_head * N * D;
  float* const result = out + query_head * N * D;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int64_t start = 0; start < N; start += TILE) {
    const int64_t across = start + threadIdx.x;
    left[threadIdx.y][threadIdx.x] = row < N && across < N ? weights[row * N + across] : 0.0f;
    const int64_t down = start + threadIdx.y;
    right[threadIdx.y][threadIdx.x] = down < N && column < D ? values[down * D + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < N && column < D) result[row * D + column] = sum;
}
