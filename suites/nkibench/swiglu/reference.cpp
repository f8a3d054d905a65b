// SPDX-License-Identifier: Apache-2.0
// SwiGLU: for every row of x (M, K), up = x w_up and gate = x w_gate, both (M, N), then y (M, K) = (gate sigmoid(gate)
// up) w_down, with w_down (N, K). Where exp(-gate) overflows to infinity the sigmoid is 0, as it should be.
#include <cmath>
#include <vector>

#include "task.h"

extern "C" void reference(const real* x, const real* w_up, const real* w_gate, const real* w_down, real* y, int64_t M,
                          int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    std::vector<real> hidden(static_cast<size_t>(N));
    for (int64_t j = 0; j < N; ++j) {
      real up = 0;
      real gate = 0;
      for (int64_t k = 0; k < K; ++k) {
        up += x[i * K + k] * w_up[k * N + j];
        gate += x[i * K + k] * w_gate[k * N + j];
      }
      const real sigmoid = real(1) / (real(1) + std::exp(-gate));
      hidden[j] = gate * sigmoid * up;
    }
    for (int64_t k = 0; k < K; ++k) {
      real sum = 0;
      for (int64_t j = 0; j < N; ++j) {
        sum += hidden[j] * w_down[j * K + k];
      }
      y[i * K + k] = sum;
    }
  }
}
