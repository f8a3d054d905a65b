// SPDX-License-Identifier: Apache-2.0
// One AdamW step on theta (M, N) with moments m and v and gradient g, all (M, N): theta - 1e-5 theta - 0.01 (0.9 m +
// 0.1 g) / (sqrt(1000 (0.999 v + 0.001 g^2)) + 1e-8). The new moments are not returned; v is never negative.
#include <cmath>

#include "task.h"

extern "C" void reference(const real* theta, const real* m, const real* v, const real* g, real* theta_new, int64_t M,
                          int64_t N) {
  for (int64_t i = 0; i < M * N; ++i) {
    const real first = real(0.9) * m[i] + real(0.1) * g[i];
    const real second = real(0.999) * v[i] + real(0.001) * g[i] * g[i];
    const real step = real(0.01) * first / (std::sqrt(real(1000) * second) + real(1e-8));
    theta_new[i] = theta[i] - real(1e-5) * theta[i] - step;
  }
}
