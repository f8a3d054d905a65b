// SPDX-License-Identifier: Apache-2.0
// Every row of x (M, K) is divided by its root mean square, then multiplied by w (K, N): y (M, N). There is no epsilon.
#include <cmath>
#include <vector>

#include "task.h"

extern "C" void reference(const real* x, const real* w, real* y, int64_t M, int64_t K, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    real squares = 0;
    for (int64_t k = 0; k < K; ++k) {
      squares += x[i * K + k] * x[i * K + k];
    }
    const real rms = std::sqrt(squares / static_cast<real>(K));
    std::vector<real> normed(static_cast<size_t>(K));
    for (int64_t k = 0; k < K; ++k) {
      normed[k] = x[i * K + k] / rms;
    }
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += normed[k] * w[k * N + j];
      }
      y[i * N + j] = sum;
    }
  }
}
