// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "task.h"

extern "C" void kernel(const float* q, const float* k, const float* v, float* out, int64_t N) {
  const float scale = 1.0f / sqrtf(static_cast<float>(D));
  float* scores = static_cast<float*>(malloc(static_cast<size_t>(N) * sizeof(float)));
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t h = 0; h < QH; ++h) {
      const float* keys = k + (b * KH + h / (QH / KH)) * N * D;
      const float* values = v + (b * KH + h / (QH / KH)) * N * D;
      const float* queries = q + (b * QH + h) * N * D;
      float* result = out + (b * QH + h) * N * D;
      for (int64_t i = 0; i < N; ++i) {
        for (int64_t j = 0; j < N; ++j) {
          float acc = 0.0f;
          for (int64_t d = 0; d < D; ++d) {
            acc += queries[i * D + d] * keys[j * D + d];
          }
          scores[j] = acc * scale;
        }
        float largest = scores[0];
        for (int64_t j = 1; j < N; ++j) {
          largest = fmaxf(largest, scores[j]);
        }
        float total = 0.0f;
        for (int64_t j = 0; j < N; ++j) {
          scores[j] = expf(scores[j] - largest);
          total += scores[j];
        }
        for (int64_t j = 0; j < N; ++j) {
          scores[j] /= total;
        }
        for (int64_t d = 0; d < D; ++d) {
          float acc = 0.0f;
          for (int64_t j = 0; j < N; ++j) {
            acc += scores[j] * values[j * D + d];
          }
          result[i * D + d] = acc;
        }
      }
    }
  }
  free(scores);
}
