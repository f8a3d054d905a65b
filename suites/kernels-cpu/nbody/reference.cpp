// SPDX-License-Identifier: Apache-2.0
// Gravity among N bodies at (px, py, pz): each one's acceleration (ax, ay, az) is the sum over all bodies of
// mass d / (|d|^2 + 0.01)^1.5, where d points from it to the other; itself adds nothing, as d is 0.
#include <cmath>

#include "task.h"

extern "C" void reference(const real* px, const real* py, const real* pz, const real* mass, real* ax, real* ay,
                          real* az, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    ax[i] = ay[i] = az[i] = 0;
    for (int64_t j = 0; j < N; ++j) {
      const real dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
      const real square = dx * dx + dy * dy + dz * dz + real(0.01);
      const real pull = mass[j] / (square * std::sqrt(square));
      ax[i] += pull * dx;
      ay[i] += pull * dy;
      az[i] += pull * dz;
    }
  }
}
