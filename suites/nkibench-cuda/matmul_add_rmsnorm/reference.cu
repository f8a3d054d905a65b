// SPDX-License-Identifier: Apache-2.0
// y (M, N) = x (M, K) times w (K, N) plus z (M, N); then every row of y is divided by sqrt(mean of its squares + 1e-5)
// and multiplied by the gain g (N): out (M, N).
//@ launch matmul_add grid=(cdiv(N, 64), cdiv(M, 64)) block=(16, 16) args=(x, w, z, out, M)
//@ launch normalize grid=(cdiv(M, 64)) block=(64) args=(g, out, M)

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE };

extern "C" __global__ void matmul_add(const real* x, const real* w, const real* z, real* out, int64_t M) {
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
      if (row < M && column < N) out[row * N + column] = sums[r][c] + z[row * N + column];
    }
  }
}

extern "C" __global__ void normalize(const real* g, real* out, int64_t M) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= M) return;
  real* const y = out + i * N;
  real squares = 0;
  for (int64_t j = 0; j < N; ++j) squares += y[j] * y[j];
  const real rms = sqrt(squares / static_cast<real>(N) + real(1e-5));
  for (int64_t j = 0; j < N; ++j) y[j] = y[j] * g[j] / rms;
}
