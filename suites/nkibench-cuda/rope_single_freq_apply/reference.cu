// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: x (D, B H N) is split over its first axis into halves x0 and x1 of F = D / 2 rows each,
// and rotated by the given cos and sin (F, B H N): y = (x0 cos - x1 sin ; x0 sin + x1 cos).
//@ launch rotate grid=(cdiv(B*H*N, 256), F) block=(256) args=(x, cos, sin, y, N)

extern "C" __global__ void rotate(const real* x, const real* cos, const real* sin, real* y, int64_t N) {
  const int64_t columns = B * H * N;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const int64_t low = blockIdx.y * columns + column;
  const int64_t high = low + F * columns;
  y[low] = x[low] * cos[low] - x[high] * sin[low];
  y[high] = x[low] * sin[low] + x[high] * cos[low];
}
