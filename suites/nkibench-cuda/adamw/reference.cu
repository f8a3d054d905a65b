// SPDX-License-Identifier: Apache-2.0
// One AdamW step on theta (M, N) with moments m and v and gradient g, all (M, N): theta - 1e-5 theta - 0.01 (0.9 m +
// 0.1 g) / (sqrt(1000 (0.999 v + 0.001 g^2)) + 1e-8). The new moments are not returned; v is never negative.
//@ launch adamw grid=(cdiv(M*N, 256)) block=(256) args=(theta, m, v, g, theta_new, M, N)

extern "C" __global__ void adamw(const real* theta, const real* m, const real* v, const real* g, real* theta_new,
                                 int64_t M, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  const real first = real(0.9) * m[i] + real(0.1) * g[i];
  const real second = real(0.999) * v[i] + real(0.001) * g[i] * g[i];
  const real step = real(0.01) * first / (sqrt(real(1000) * second) + real(1e-8));
  theta_new[i] = theta[i] - real(1e-5) * theta[i] - step;
}
