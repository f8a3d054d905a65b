// SPDX-License-Identifier: Apache-2.0
//@ launch rotate grid=(cdiv(B*H*N, 256), F) block=(256) args=(x, cos, sin, y, N)

extern "C" __global__ void rotate(const float* x, const float* cos, const float* sin, float* y, int64_t N) {
  const int64_t columns = B * H * N;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const int64_t low = blockIdx.y * columns + column;
  const int64_t high = low + F * columns;
  const float x0 = x[low];
  const float x1 = x[high];
  const float c = cos[low];
  const float s = sin[low];
  y[low] = x0 * c - x1 * s;
  y[high] = x0 * s + x1 * c;
}
