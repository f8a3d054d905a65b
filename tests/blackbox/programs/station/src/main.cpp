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

/// Numbers of which every call takes others, so that none are in the caches.
constexpr int kPool = 1 << 25;

struct Work {
  std::string name;
  int inputs;  // numbers that a call reads of each pool, at most
  std::vector<float> out;
  std::function<void(const float*, const float*, float*)> call;
};

double nanoseconds(Work& work, const float* x, const float* y) {
  constexpr int kCalls = 31;
  std::vector<double> times;
  std::vector<float> outs(work.out.size() * (kCalls + 1));
  for (int i = 0; i <= kCalls; ++i) {
    const int at = static_cast<int>(static_cast<long>(i) * 1000003 % (kPool - work.inputs));
    const auto start = std::chrono::steady_clock::now();
    work.call(x + at, y + at, outs.data() + i * work.out.size());
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (i > 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + kCalls / 2, times.end());
  return times[kCalls / 2];
}

}  // namespace

int main(int argc, char**) {
  const std::vector<float> a = drawn(kPool, 1), b = drawn(kPool, 2);
  std::vector<Work> all;
  all.push_back({"blend", 244 * 192, std::vector<float>(244 * 192), [](const float* x, const float* y, float* out) {
                   station::blend(out, 244, x, y, 192, 160);
                 }});
  all.push_back({"column_sums", 800 * 512, std::vector<float>(512), [](const float* x, const float*, float* out) {
                   station::column_sums(x, out, 800, 512);
                 }});
  all.push_back({"smooth", 480 * 384, std::vector<float>(480 * 384), [](const float* x, const float* y, float* out) {
                   station::filter::smooth(y, x, out, 480, 384);
                 }});
  all.push_back({"outer", 144 * 192, std::vector<float>(192 * 192), [](const float* x, const float* y, float* out) {
                   station::outer(x, y, out, 192, 192, 144);
                 }});
  all.push_back({"project", 192 * 192, std::vector<float>(192 * 192), [](const float* x, const float* y, float* out) {
                   station::Projector::project(x, y, out, 192, 192, 192);
                 }});
  for (Work& work : all) {
    if (argc > 1) {
      std::printf("%s %.1f\n", work.name.c_str(), nanoseconds(work, a.data(), b.data()));
      continue;
    }
    work.call(a.data(), b.data(), work.out.data());
    for (float value : work.out) std::printf("%s %.5f\n", work.name.c_str(), static_cast<double>(value));
  }
}
