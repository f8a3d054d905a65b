// SPDX-License-Identifier: Apache-2.0
// c (M, N) = a (M, K) transpose(b (N, K)).
//@ launch product grid=(cdiv(N, 128), cdiv(M, 128)) block=(16, 16) args=(a, b, c, M, N, K)

// A block has TILE x TILE elements, a thread EACH x EACH of them, SIDE apart.
enum { TILE = 128, DEPTH = 8, SIDE = 16, EACH = TILE / SIDE };

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
    product(const real* a, const real* b, real* c, int64_t M, int64_t N, int64_t K) {
  __shared__ real left[DEPTH][TILE + 1];
  __shared__ real right[DEPTH][TILE + 1];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < K; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t k = start + i % DEPTH;
      const int64_t row = first_row + i / DEPTH;
      const int64_t column = first_column + i / DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && k < K ? a[row * K + k] : real(0);
      right[i % DEPTH][i / DEPTH] = column < N && k < K ? b[column * K + k] : real(0);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      real rows[EACH];
      real columns[EACH];
      for (int r = 0; r < EACH; ++r) rows[r] = left[d][threadIdx.y + SIDE * r];
      for (int s = 0; s < EACH; ++s) columns[s] = right[d][threadIdx.x + SIDE * s];
      for (int r = 0; r < EACH; ++r) {
        for (int s = 0; s < EACH; ++s) sums[r][s] += rows[r] * columns[s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < EACH; ++r) {
    for (int s = 0; s < EACH; ++s) {
      const int64_t row = first_row + threadIdx.y + SIDE * r;
      const int64_t column = first_column + threadIdx.x + SIDE * s;
      if (row < M && column < N) c[row * N + column] = sums[r][s];
    }
  }
}
