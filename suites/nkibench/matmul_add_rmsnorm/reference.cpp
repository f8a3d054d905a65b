// SPDX-License-Identifier: Apache-2.0
// y (M, N) = x (M, K) times w (K, N) plus z (M, N); then every row of y is divided by sqrt(mean of its squares + 1e-5)
// and multiplied by the gain g (N): out (M, N).
#include <cmath>
#include <vector>

#include "task.h"

extern "C" void reference(const real* x, const real* w, const real* z, const real* g, real* out, int64_t M, int64_t N,
                          int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    std::vector<real> y(static_cast<size_t>(N));
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += x[i * K + k] * w[k * N + j];
      }
      y[j] = sum + z[i * N + j];
    }
    real squares = 0;
    for (int64_t j = 0; j < N; ++j) {
      squares += y[j] * y[j];
    }
    const real rms = std::sqrt(squares / static_cast<real>(N) + real(1e-5));
    for (int64_t j = 0; j < N; ++j) {
      out[i * N + j] = y[j] * g[j] / rms;
    }
  }
}
