// SPDX-License-Identifier: Apache-2.0
//@ launch adamw grid=(cdiv(M*N, 256)) block=(256) args=(theta, m, v, g, theta_new, M, N)

extern "C" __global__ void adamw(const float* theta, const float* m, const float* v, const float* g, float* theta_new,
                                 int64_t M, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  const float gradient = g[i];
  const float first = 0.9f * m[i] + 0.1f * gradient;
  const float second = 0.999f * v[i] + 0.001f * gradient * gradient;
  const float decayed = theta[i] - 1e-5f * theta[i];
  theta_new[i] = decayed - 0.01f * first / (sqrtf(1000.0f * second) + 1e-8f);
}
