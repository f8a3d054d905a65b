// SPDX-License-Identifier: Apache-2.0
// Written over the type `real`, which is double or float: clear, not fast. Here one thread computes one row.
//@ launch softmax grid=(cdiv(M, 32)) block=(32) args=(x, y, M, N)

extern "C" __global__ void softmax(const real* x, real* y, int64_t M, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= M) return;
  real largest = x[i * N];
  for (int64_t j = 1; j < N; ++j) largest = fmax(largest, x[i * N + j]);
  real total = 0;
  for (int64_t j = 0; j < N; ++j) total += exp(x[i * N + j] - largest);
  for (int64_t j = 0; j < N; ++j) y[i * N + j] = exp(x[i * N + j] - largest) / total;
}
