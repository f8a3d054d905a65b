// SPDX-License-Identifier: Apache-2.0
// Prints what the station computes; with an argument, how many nanoseconds a call of each function takes instead.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "signal.hpp"

namespace {

std::vector<float> drawn(int count, unsigned state) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return values;
}

struct Work {
  std::string name;
  std::vector<float> out;
  std::function<void(float*)> call;
};

double nanoseconds(Work& work) {
  constexpr int kCalls = 20;
  double best = INFINITY;
  for (int round = 0; round < 15; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) work.call(work.out.data());
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / kCalls);
  }
  return best;
}

}  // namespace

int main(int argc, char**) {
  const std::vector<float> a = drawn(64 * 512, 1), b = drawn(96 * 512, 2);
  const float* x = a.data();
  const float* y = b.data();
  std::vector<Work> all;
  all.push_back({"blend", std::vector<float>(61 * 96), [=](float* out) { station::blend(out, 61, x, y, 96, 80); }});
  all.push_back({"column_sums", std::vector<float>(128), [=](float* out) { station::column_sums(x, out, 200, 128); }});
  all.push_back({"smooth", std::vector<float>(60 * 96), [=](float* out) { station::filter::smooth(y, x, out, 60, 96); }});
  all.push_back({"outer", std::vector<float>(64 * 96), [=](float* out) { station::outer(x, y, out, 64, 96, 72); }});
  all.push_back({"project", std::vector<float>(48 * 96),
                 [=](float* out) { station::Projector::project(x, y, out, 48, 96, 64); }});
  for (Work& work : all) {
    if (argc > 1) {
      std::printf("%s %.1f\n", work.name.c_str(), nanoseconds(work));
      continue;
    }
    work.call(work.out.data());
    for (float value : work.out) std::printf("%s %.5f\n", work.name.c_str(), static_cast<double>(value));
  }
}
