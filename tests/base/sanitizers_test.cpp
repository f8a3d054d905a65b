// SPDX-License-Identifier: Apache-2.0
// What the other tests rely on under sanitizers: a finding ends the program with an error, whichever compiler made it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <vector>

namespace accelopt::base {
namespace {

int sum_of(int a, int b) {
  return a + b;
}

int value_at(const std::vector<int>& values, std::size_t index) {
  return values.data()[index];
}

/// Several, as a word that is left on the stack may point to one.
[[gnu::noinline]] void lose_memory() {
  for (int block = 0; block < 100; ++block) {
    [[maybe_unused]] int* volatile lost = new int[10];  // NOLINT(cppcoreguidelines-owning-memory): that is the test
  }
}

TEST(Sanitizers, Overflow_OfAnInt_EndsTheProgram) {
  volatile int most = std::numeric_limits<int>::max();
  EXPECT_DEATH(std::exit(sum_of(most, 1) == 0), "signed integer overflow");
}

TEST(Sanitizers, Read_BehindAVectorsEnd_EndsTheProgram) {
  const std::vector<int> values(3);
  volatile std::size_t behind = 3;
  EXPECT_DEATH(std::exit(value_at(values, behind)), "heap-buffer-overflow");
}

TEST(Sanitizers, Leak_AtTheProgramsEnd_IsAnError) {
  const auto leak_and_end = [] {
    lose_memory();
    std::exit(0);
  };
  EXPECT_EXIT(
      leak_and_end(), [](int status) { return status != 0; }, "detected memory leaks");
}

}  // namespace
}  // namespace accelopt::base
