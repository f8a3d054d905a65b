// SPDX-License-Identifier: Apache-2.0
// y (M, K) = x + z, both (M, K); every row of y is divided by sqrt(mean of its squares + 1e-5) and multiplied by the
// gain g (K); out (M, N) = that times w (K, N).
#include <cmath>
#include <vector>

#include "task.h"

extern "C" void reference(const real* x, const real* z, const real* g, const real* w, real* out, int64_t M, int64_t N,
                          int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    std::vector<real> y(static_cast<size_t>(K));
    real squares = 0;
    for (int64_t k = 0; k < K; ++k) {
      y[k] = x[i * K + k] + z[i * K + k];
      squares += y[k] * y[k];
    }
    const real rms = std::sqrt(squares / static_cast<real>(K) + real(1e-5));
    for (int64_t k = 0; k < K; ++k) {
      y[k] = y[k] / rms * g[k];
    }
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += y[k] * w[k * N + j];
      }
      out[i * N + j] = sum;
    }
  }
}
