// SPDX-License-Identifier: Apache-2.0
// Prints what the station computes; with an argument, how many nanoseconds a call of each function takes instead.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "signal.hpp"

namespace {

constexpr std::size_t kLine = 64;

/// Numbers that begin with a cache line.
class Numbers {
 public:
  Numbers(std::size_t count, std::uint32_t state) : count_(count), values_(new (std::align_val_t(kLine)) float[count]) {
    for (std::size_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      values_[i] = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
    }
  }

  float* data() { return values_.get(); }
  std::size_t size() const { return count_; }

  /// Takes them out of all caches.
  void flush() {
#if defined(__x86_64__)
    for (std::size_t i = 0; i < count_; i += kLine / sizeof(float)) __builtin_ia32_clflush(values_.get() + i);
    __builtin_ia32_mfence();
#else
    static std::vector<char> other(std::size_t{128} << 20);
    for (std::size_t i = 0; i < other.size(); i += kLine) ++*static_cast<volatile char*>(&other[i]);
#endif
  }

 private:
  struct Free {
    void operator()(float* values) const { ::operator delete[](values, std::align_val_t(kLine)); }
  };
  std::size_t count_;
  std::unique_ptr<float[], Free> values_;
};

struct Work {
  std::string name;
  Numbers x, y, out;
  std::function<void(const float*, const float*, float*)> function;

  void call() { function(x.data(), y.data(), out.data()); }
};

/// The middle one of some calls, none of which finds its data in the caches.
double nanoseconds(Work& work) {
  constexpr int kCalls = 15;
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) {
    for (Numbers* numbers : {&work.x, &work.y, &work.out}) numbers->flush();
    const auto start = std::chrono::steady_clock::now();
    work.call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + kCalls / 2, times.end());
  return times[kCalls / 2];
}

}  // namespace

int main(int argc, char**) {
  std::vector<Work> all;
  const auto add = [&](std::string name, std::size_t x, std::size_t y, std::size_t out, auto function) {
    all.push_back({std::move(name), Numbers(x, 1), Numbers(y, 2), Numbers(out, 3), function});
  };
  add("blend", 244 * 160, 160 * 192, 244 * 192,
      [](const float* x, const float* y, float* out) { station::blend(out, 244, x, y, 192, 160); });
  add("column_sums", 800 * 512, 0, 512,
      [](const float* x, const float*, float* out) { station::column_sums(x, out, 800, 512); });
  add("smooth", station::kTaps * 384, 480 * station::kTaps, 480 * 384,
      [](const float* x, const float* y, float* out) { station::filter::smooth(x, y, out, 480, 384); });
  add("outer", 144 * 192, 144 * 192, 192 * 192,
      [](const float* x, const float* y, float* out) { station::outer(x, y, out, 192, 192, 144); });
  add("project", 192 * 192, 192 * 192, 192 * 192,
      [](const float* x, const float* y, float* out) { station::Projector::project(x, y, out, 192, 192, 192); });
  for (Work& work : all) {
    if (argc > 1) {
      std::printf("%s %.1f\n", work.name.c_str(), nanoseconds(work));
      continue;
    }
    work.call();
    for (std::size_t i = 0; i < work.out.size(); ++i) {
      std::printf("%s %.5f\n", work.name.c_str(), static_cast<double>(work.out.data()[i]));
    }
  }
}
