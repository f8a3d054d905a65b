// SPDX-License-Identifier: Apache-2.0
// Bilinear interpolation of x (C, H, W) at the size (P, Q): y (C, P, Q). Pixels are areas: the middle of row i is row
// (i + 1/2) H / P - 1/2 of x, likewise for columns, and what is beyond the first or the last row has its value.
#include <algorithm>
#include <cmath>

#include "task.h"

namespace {

struct Place {
  int64_t first, second;
  real share;  // of the second
};

Place place(int64_t i, int64_t from, int64_t to) {
  const real middle = std::max((real(i) + real(0.5)) * real(from) / real(to) - real(0.5), real(0));
  const auto first = static_cast<int64_t>(middle);
  return {first, std::min(first + 1, from - 1), middle - real(first)};
}

}  // namespace

extern "C" void reference(const real* x, real* y, int64_t C, int64_t H, int64_t W, int64_t P, int64_t Q) {
  for (int64_t c = 0; c < C; ++c) {
    for (int64_t i = 0; i < P; ++i) {
      const Place row = place(i, H, P);
      const real* top = x + (c * H + row.first) * W;
      const real* bottom = x + (c * H + row.second) * W;
      for (int64_t j = 0; j < Q; ++j) {
        const Place column = place(j, W, Q);
        const real above = (1 - column.share) * top[column.first] + column.share * top[column.second];
        const real below = (1 - column.share) * bottom[column.first] + column.share * bottom[column.second];
        y[(c * P + i) * Q + j] = (1 - row.share) * above + row.share * below;
      }
    }
  }
}
