// SPDX-License-Identifier: Apache-2.0
// SiLU: y = x / (1 + exp(-x)) for every element of x (M, N). Where exp(-x) overflows to infinity the result is
// 0, as it should be.
//@ launch silu grid=(cdiv(M*N, 256)) block=(256) args=(x, y, M, N)

extern "C" __global__ void silu(const real* x, real* y, int64_t M, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < M * N) y[i] = x[i] / (real(1) + exp(-x[i]));
}
