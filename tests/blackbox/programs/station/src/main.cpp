// SPDX-License-Identifier: Apache-2.0
// Prints what the station computes; with "time", how many nanoseconds a call of each function takes instead; with
// "large", on more numbers.
#include <time.h>

#include <algorithm>
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
  Numbers(int count, std::uint32_t state)
      : count_(static_cast<std::size_t>(count)), values_(new (std::align_val_t(kLine)) float[count_]) {
    for (std::size_t i = 0; i < count_; ++i) {
      state = state * 1664525u + 1013904223u;
      values_[i] = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
    }
  }

  float* data() { return values_.get(); }
  std::size_t size() const { return count_; }

  /// Takes them out of all caches, where the processor can do that by line.
  void flush() {
#if defined(__x86_64__)
    for (std::size_t i = 0; i < count_; i += kLine / sizeof(float)) __builtin_ia32_clflush(values_.get() + i);
    __builtin_ia32_mfence();
#endif
  }

 private:
  struct Free {
    void operator()(float* values) const { ::operator delete[](values, std::align_val_t(kLine)); }
  };
  std::size_t count_;
  std::unique_ptr<float[], Free> values_;
};

/// Reads other memory, so that no page's address is known any more; on other processors, so much that nothing is in the
/// caches.
void read_other_memory() {
#if defined(__x86_64__)
  constexpr std::size_t kStep = 4096 + kLine;
#else
  constexpr std::size_t kStep = kLine;
#endif
  static std::vector<char> other(std::size_t{64} << 20);
  for (std::size_t i = 0; i < other.size(); i += kStep) {
    volatile char& one = other[i];
    one = static_cast<char>(one + 1);
  }
}

struct Work {
  std::string name;
  Numbers x, y, out;
  std::function<void(const float*, const float*, float*)> function;

  void call() { function(x.data(), y.data(), out.data()); }
};

/// Time that this program has computed, others on its core left out: a long call would meet more of those than a short
/// one.
double computed_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The middle one of some calls, none of which finds its data in the caches or the addresses of its pages.
double nanoseconds(Work& work) {
  constexpr int kCalls = 5;
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) {
    for (Numbers* numbers : {&work.x, &work.y, &work.out}) numbers->flush();
    read_other_memory();
    const double start = computed_nanoseconds();
    work.call();
    times.push_back(computed_nanoseconds() - start);
  }
  std::nth_element(times.begin(), times.begin() + kCalls / 2, times.end());
  return times[kCalls / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto given = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const bool large = given("large");
  std::vector<Work> all;
  const auto add = [&](std::string name, int x, int y, int out, auto function) {
    all.push_back({std::move(name), Numbers(x, 1), Numbers(y, 2), Numbers(out, 3), function});
  };
  using In = const float*;
  using Out = float*;
  {
    const int rows = large ? 122 : 61, cols = large ? 192 : 96, depth = large ? 160 : 80;
    add("blend", rows * depth, depth * cols, rows * cols,
        [=](In x, In y, Out out) { station::blend(out, rows, x, y, cols, depth); });
  }
  {
    const int rows = large ? 800 : 200, cols = large ? 512 : 128;
    add("column_sums", rows * cols, 0, cols, [=](In x, In, Out out) { station::column_sums(x, out, rows, cols); });
  }
  {
    const int rows = large ? 240 : 60, cols = large ? 384 : 96;
    add("smooth", station::kTaps * cols, rows * station::kTaps, rows * cols,
        [=](In x, In y, Out out) { station::filter::smooth(x, y, out, rows, cols); });
  }
  {
    const int n = large ? 176 : 64, m = large ? 208 : 96, steps = large ? 144 : 72;
    add("outer", steps * n, steps * m, n * m, [=](In x, In y, Out out) { station::outer(x, y, out, n, m, steps); });
  }
  {
    const int count = large ? 120 : 48, width = large ? 192 : 96, size = large ? 152 : 64;
    add("project", count * size, size * width, count * width,
        [=](In x, In y, Out out) { station::Projector::project(x, y, out, count, width, size); });
  }
  for (Work& work : all) {
    if (given("time")) {
      std::printf("%s %.1f\n", work.name.c_str(), nanoseconds(work));
      continue;
    }
    work.call();
    for (std::size_t i = 0; i < work.out.size(); ++i) {
      std::printf("%s %.5f\n", work.name.c_str(), static_cast<double>(work.out.data()[i]));
    }
  }
}
