// SPDX-License-Identifier: Apache-2.0
// Low-rank adapted product: y (M, N) = x (M, K) times w (K, N), plus (x times a (K, R)) times b (R, N).
//@ scratch low_rank float64 [M, R]
//@ launch reduce_rank grid=(cdiv(R, 64), cdiv(M, 64)) block=(16, 16) args=(x, a, low_rank, M)
//@ launch dense grid=(cdiv(N, 64), cdiv(M, 64)) block=(16, 16) args=(x, w, y, M)
//@ launch add_adapted grid=(cdiv(N, 64), cdiv(M, 64)) block=(16, 16) args=(low_rank, b, y, M)

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE };

extern "C" __global__ void reduce_rank(const real* x, const real* a, real* low_rank, int64_t M) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < K; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && across < K ? x[row * K + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      right[i / TILE][i % TILE] = down < K && column < R ? a[down * R + column] : real(0);
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
      if (row < M && column < R) low_rank[row * R + column] = sums[r][c];
    }
  }
}

extern "C" __global__ void dense(const real* x, const real* w, real* y, int64_t M) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < K; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && across < K ? x[row * K + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      right[i / TILE][i % TILE] = down < K && column < N ? w[down * N + column] : real(0);
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
      if (row < M && column < N) y[row * N + column] = sums[r][c];
    }
  }
}

extern "C" __global__ void add_adapted(const real* low_rank, const real* b, real* y, int64_t M) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < R; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && across < R ? low_rank[row * R + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      right[i / TILE][i % TILE] = down < R && column < N ? b[down * N + column] : real(0);
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
      if (row < M && column < N) y[row * N + column] += sums[r][c];
    }
  }
}
