// SPDX-License-Identifier: Apache-2.0
// Selective state-space scan: for every channel of C and state of S, h[t] = exp(delta a) h[t-1] + delta b u along the M
// steps, from h = 0; y (C, M) = sum over the states of c h. delta and u are (C, M), a is (C, S), b and c are (S, M).
#include <cmath>

#include "task.h"

extern "C" void reference(const real* delta, const real* a, const real* b, const real* c, const real* u, real* y,
                          int64_t C, int64_t M) {
  for (int64_t i = 0; i < C; ++i) {
    real h[S] = {};
    for (int64_t t = 0; t < M; ++t) {
      const real step = delta[i * M + t];
      real sum = 0;
      for (int64_t s = 0; s < S; ++s) {
        h[s] = std::exp(step * a[i * S + s]) * h[s] + step * b[s * M + t] * u[i * M + t];
        sum += c[s * M + t] * h[s];
      }
      y[i * M + t] = sum;
    }
  }
}
