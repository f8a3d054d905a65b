// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y, int64_t C, int64_t H, int64_t W, int64_t P, int64_t Q) {
  for (int64_t c = 0; c < C; ++c) {
    for (int64_t i = 0; i < P; ++i) {
      for (int64_t j = 0; j < Q; ++j) {
        const float row = fmaxf((i + 0.5f) * H / P - 0.5f, 0.0f);
        const float column = fmaxf((j + 0.5f) * W / Q - 0.5f, 0.0f);
        const int64_t top = static_cast<int64_t>(row);
        const int64_t left = static_cast<int64_t>(column);
        const int64_t bottom = top + 1 < H ? top + 1 : H - 1;
        const int64_t right = left + 1 < W ? left + 1 : W - 1;
        const float down = row - top;
        const float along = column - left;
        const float above = (1.0f - along) * x[(c * H + top) * W + left] + along * x[(c * H + top) * W + right];
        const float below = (1.0f - along) * x[(c * H + bottom) * W + left] + along * x[(c * H + bottom) * W + right];
        y[(c * P + i) * Q + j] = (1.0f - down) * above + down * below;
      }
    }
  }
}
