// SPDX-License-Identifier: Apache-2.0
//@ launch silu grid=(cdiv(M*N, 256)) block=(256) args=(x, y, M, N)

extern "C" __global__ void silu(const float* x, float* y, int64_t M, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < M * N) y[i] = x[i] / (1.0f + expf(-x[i]));
}
