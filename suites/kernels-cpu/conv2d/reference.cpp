// SPDX-License-Identifier: Apache-2.0
// Convolution of an image of C channels, x (C, H, W), with K filters of 3 x 3, w (K, C, R, S), as neural networks have
// it (no filter is mirrored): y (K, P, Q), where P = H - 2 and Q = W - 2, as nothing is padded.
#include "task.h"

extern "C" void reference(const real* x, const real* w, real* y, int64_t H, int64_t W, int64_t P, int64_t Q) {
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t i = 0; i < P; ++i) {
      for (int64_t j = 0; j < Q; ++j) {
        real sum = 0;
        for (int64_t c = 0; c < C; ++c) {
          for (int64_t r = 0; r < R; ++r) {
            for (int64_t s = 0; s < S; ++s) {
              sum += w[((k * C + c) * R + r) * S + s] * x[(c * H + (i + r)) * W + (j + s)];
            }
          }
        }
        y[(k * P + i) * Q + j] = sum;
      }
    }
  }
}
