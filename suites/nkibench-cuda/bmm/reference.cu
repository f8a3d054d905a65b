// SPDX-License-Identifier: Apache-2.0
// Batched matrix product: for every batch, y (M, N) = lhs (M, K) times rhs (K, N).
//@ launch bmm grid=(cdiv(N, 64), cdiv(M, 64), B) block=(16, 16) args=(lhs, rhs, y, M)

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE };

extern "C" __global__ void bmm(const real* lhs, const real* rhs, real* y, int64_t M) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const real* const lefts = lhs + blockIdx.z * (M * K);
  const real* const rights = rhs + blockIdx.z * (int64_t(K) * N);
  real* const products = y + blockIdx.z * (M * N);
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < K; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && across < K ? lefts[row * K + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      right[i / TILE][i % TILE] = down < K && column < N ? rights[down * N + column] : real(0);
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
      if (row < M && column < N) products[row * N + column] = sums[r][c];
    }
  }
}
