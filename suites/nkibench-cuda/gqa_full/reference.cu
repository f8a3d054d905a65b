// SPDX-License-Identifier: Apache-2.0
// Grouped-query attention without a mask: out (B, QH, N, D) = softmax(q k^T / sqrt(D)) v for every batch and query
// head, with q (B, QH, N, D), k and v (B, KH, N, D); query head h uses key-value head h / (QH / KH). The maximum of the
// whole row is subtracted before exp.
//@ scratch p float64 [B, QH, N, N]
//@ launch scores grid=(cdiv(N, 64), cdiv(N, 64), B*QH) block=(16, 16) args=(q, k, p, N)
//@ launch softmax_rows grid=(cdiv(B*QH*N, 64)) block=(64) args=(p, N)
//@ launch weighted_sum grid=(cdiv(D, 64), cdiv(N, 64), B*QH) block=(16, 16) args=(p, v, out, N)

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE };

extern "C" __global__ void scores(const real* q, const real* k, real* p, int64_t N) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t query_head = blockIdx.z;
  const int64_t kv_head = query_head / QH * KH + query_head % QH / (QH / KH);
  const real* const queries = q + query_head * N * D;
  const real* const keys = k + kv_head * N * D;
  real* const result = p + query_head * N * N;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < D; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < N && across < D ? queries[row * D + across] : real(0);
      const int64_t column = first_column + i / DEPTH;
      right[i % DEPTH][i / DEPTH] = column < N && across < D ? keys[column * D + across] : real(0);
    }
    __syncthreads();
    for (int d = 0; d < DEPTH; ++d) {
      for (int r = 0; r < EACH; ++r) {
        for (int c = 0; c < EACH; ++c) {
          sums[r][c] += left[d][threadIdx.y + SIDE * r] * right[d][threadIdx.x + SIDE * c];
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < EACH; ++r) {
    for (int c = 0; c < EACH; ++c) {
      const int64_t row = first_row + threadIdx.y + SIDE * r;
      const int64_t column = first_column + threadIdx.x + SIDE * c;
      if (row < N && column < N) result[row * N + column] = sums[r][c] / sqrt(static_cast<real>(D));
    }
  }
}

extern "C" __global__ void softmax_rows(real* p, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= B * QH * N) return;
  real* const row = p + i * N;
  real largest = row[0];
  for (int64_t j = 1; j < N; ++j) largest = fmax(largest, row[j]);
  real total = 0;
  for (int64_t j = 0; j < N; ++j) {
    row[j] = exp(row[j] - largest);
    total += row[j];
  }
  for (int64_t j = 0; j < N; ++j) row[j] /= total;
}

extern "C" __global__ void weighted_sum(const real* p, const real* v, real* out, int64_t N) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t query_head = blockIdx.z;
  const int64_t kv_head = query_head / QH * KH + query_head % QH / (QH / KH);
  const real* const weights = p + query_head * N * N;
  const real* const values = v + kv_head * N * D;
  real* const result = out + query_head * N * D;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < N; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < N && across < N ? weights[row * N + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      right[i / TILE][i % TILE] = down < N && column < D ? values[down * D + column] : real(0);
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      for (int r = 0; r < EACH; ++r) {
        for (int c = 0; c < EACH; ++c) {
          sums[r][c] += left[k][threadIdx.y + SIDE * r] * right[k][threadIdx.x + SIDE * c];
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < EACH; ++r) {
    for (int c = 0; c < EACH; ++c) {
      const int64_t row = first_row + threadIdx.y + SIDE * r;
      const int64_t column = first_column + threadIdx.x + SIDE * c;
      if (row < N && column < D) result[row * D + column] = sums[r][c];
    }
  }
}
