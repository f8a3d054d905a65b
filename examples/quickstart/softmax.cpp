// SPDX-License-Identifier: Apache-2.0
// Scores to probabilities, row by row, and what that takes.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

// y[r] = exp(x[r] - max(x[r])) / sum(exp(x[r] - max(x[r]))) for each row r.
void softmax_rows(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float largest = x[r * cols];
    for (int c = 1; c < cols; ++c) largest = x[r * cols + c] > largest ? x[r * cols + c] : largest;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      y[r * cols + c] = std::exp(x[r * cols + c] - largest);
      sum += y[r * cols + c];
    }
    for (int c = 0; c < cols; ++c) y[r * cols + c] = y[r * cols + c] / sum;
  }
}

int main() {
  const int rows = 64, cols = 1000, calls = 1000;
  std::vector<float> x(rows * cols), y(rows * cols);
  for (int i = 0; i < rows * cols; ++i) x[i] = static_cast<float>((i * 7919) % 2048) / 256.0f - 4.0f;
  const auto start = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) softmax_rows(x.data(), y.data(), rows, cols);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  std::printf("%.3f ms per call; y[0] = %.6f\n", taken.count() / calls, static_cast<double>(y[0]));
}
