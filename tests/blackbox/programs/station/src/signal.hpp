// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace station {

constexpr int kTaps = 56;

void blend(float* out, int rows, const float* image, const float* weights, int cols, int depth);

inline namespace v2 {
void column_sums(const float* x, float* sums, int rows, int cols);
}

namespace filter {
void smooth(const float* in, const float* taps, float* out, int rows, int cols);
}

void outer(const float* a, const float* b, float* out, int n, int m, int steps);

/// Projects samples on a basis.
class Projector {
 public:
  explicit Projector(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  static void project(const float* samples, const float* basis, float* out, int count, int width, int size);

 private:
  static constexpr float kScale = 0.5f;
  static float scaled(float value) { return value * kScale; }
  std::string name_;
};

}  // namespace station
