// SPDX-License-Identifier: Apache-2.0
// Every row of x (M, K) is divided by its root mean square, then multiplied by w (K, N): y (M, N). There is no epsilon.
#include <cmath>

#include "task.h"

extern "C" void reference(const real* x, const real* w, real* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    real squares = 0;
    for (int64_t k = 0; k < K; ++k) {
      squares += x[i * K + k] * x[i * K + k];
    }
    const real rms = std::sqrt(squares / static_cast<real>(K));
    real normed[K];
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
