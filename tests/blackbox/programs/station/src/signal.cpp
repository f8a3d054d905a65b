// SPDX-License-Identifier: Apache-2.0
// What the station computes from its samples.
#include "signal.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace station {

namespace {

// out[n][m] = sum over steps of a[step][n] * b[step][m].
void gathered(const float* a, const float* b, float* out, int n, int m, int steps) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      float sum = 0.0f;
      for (int s = 0; s < steps; ++s) {
        sum += a[s * n + i] * b[s * m + j];
      }
      out[i * m + j] = sum;
    }
  }
}

}  // namespace

// The image's channels, mixed by the weights.
void blend(float* out, int rows, const float* image, const float* weights, int cols, int depth) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      float sum = 0.0f;
      for (int d = 0; d < depth; ++d) {
        sum += image[r * depth + d] * weights[d * cols + c];
      }
      out[r * cols + c] = sum;
    }
  }
}

inline namespace v2 {

void column_sums(const float* x, float* sums, int rows, int cols) {
  for (int c = 0; c < cols; ++c) {
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r) {
      sum += x[r * cols + c];
    }
    sums[c] = sum;
  }
}

}  // namespace v2

void outer(const float* a, const float* b, float* out, int n, int m, int steps) {
  gathered(a, b, out, n, m, steps);
}

void Projector::project(const float* samples, const float* basis, float* out, int count, int width, int size) {
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < width; ++j) {
      float sum = 0.0f;
      for (int k = 0; k < size; ++k) {
        sum += scaled(samples[i * size + k]) * basis[k * width + j];
      }
      out[i * width + j] = sum;
    }
  }
}

}  // namespace station

namespace station::filter {

void smooth(const float* in, const float* taps, float* out, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      float sum = 0.0f;
      for (int t = 0; t < kTaps; ++t) {
        sum += taps[r * kTaps + t] * in[t * cols + c];
      }
      out[r * cols + c] = sum;
    }
  }
}

}  // namespace station::filter
