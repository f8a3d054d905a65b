// SPDX-License-Identifier: Apache-2.0
// SwiGLU: for every row of x (M, K), up = x w_up and gate = x w_gate, both (M, N), then y (M, K) = (gate sigmoid(gate)
// up) w_down, with w_down (N, K). Where exp(-gate) overflows to infinity the sigmoid is 0, as it should be.
//@ scratch hidden float64 [M, N]
//@ launch up_and_gate grid=(cdiv(N, 64), cdiv(M, 64)) block=(16, 16) args=(x, w_up, w_gate, hidden, M)
//@ launch down_product grid=(cdiv(K, 64), cdiv(M, 64)) block=(16, 16) args=(hidden, w_down, y, M)

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE };

extern "C" __global__ void up_and_gate(const real* x, const real* w_up, const real* w_gate, real* hidden, int64_t M) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real up[DEPTH][TILE];
  __shared__ real gate[DEPTH][TILE];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real ups[EACH][EACH] = {};
  real gates[EACH][EACH] = {};
  for (int64_t start = 0; start < K; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && across < K ? x[row * K + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      up[i / TILE][i % TILE] = down < K && column < N ? w_up[down * N + column] : real(0);
      gate[i / TILE][i % TILE] = down < K && column < N ? w_gate[down * N + column] : real(0);
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      for (int r = 0; r < EACH; ++r) {
        for (int c = 0; c < EACH; ++c) {
          ups[r][c] += left[k][threadIdx.y + SIDE * r] * up[k][threadIdx.x + SIDE * c];
          gates[r][c] += left[k][threadIdx.y + SIDE * r] * gate[k][threadIdx.x + SIDE * c];
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < EACH; ++r) {
    for (int c = 0; c < EACH; ++c) {
      const int64_t row = first_row + threadIdx.y + SIDE * r;
      const int64_t column = first_column + threadIdx.x + SIDE * c;
      const real sigmoid = real(1) / (real(1) + exp(-gates[r][c]));
      if (row < M && column < N) hidden[row * N + column] = gates[r][c] * sigmoid * ups[r][c];
    }
  }
}

extern "C" __global__ void down_product(const real* hidden, const real* w_down, real* y, int64_t M) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < N; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t row = first_row + i / DEPTH;
      const int64_t across = start + i % DEPTH;
      left[i % DEPTH][i / DEPTH] = row < M && across < N ? hidden[row * N + across] : real(0);
      const int64_t down = start + i / TILE;
      const int64_t column = first_column + i % TILE;
      right[i / TILE][i % TILE] = down < N && column < K ? w_down[down * K + column] : real(0);
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
      if (row < M && column < K) y[row * K + column] = sums[r][c];
    }
  }
}
