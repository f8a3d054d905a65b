// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* px, const float* py, const float* pz, const float* mass, float* ax, float* ay,
                       float* az, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    float sum_x = 0.0f;
    float sum_y = 0.0f;
    float sum_z = 0.0f;
    for (int64_t j = 0; j < N; ++j) {
      const float dx = px[j] - px[i];
      const float dy = py[j] - py[i];
      const float dz = pz[j] - pz[i];
      const float distance = sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float pull = mass[j] / (distance * distance * distance);
      sum_x += pull * dx;
      sum_y += pull * dy;
      sum_z += pull * dz;
    }
    ax[i] = sum_x;
    ay[i] = sum_y;
    az[i] = sum_z;
  }
}
