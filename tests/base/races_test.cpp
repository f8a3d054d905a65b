// SPDX-License-Identifier: Apache-2.0
// What the other tests rely on under ThreadSanitizer: a race ends the program with an error, and locked data is no
// race.
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <thread>

namespace accelopt::base {
namespace {

/// A child that adds to one number in two threads, and ends well where nobody objects.
template <class Add>
void add_in_two_threads(const Add& add) {
  std::thread other(add);
  add();
  other.join();
  std::exit(0);
}

TEST(Races, TwoThreads_WithoutALock_EndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        static int sum = 0;
        add_in_two_threads([] { ++sum; });
      },
      "data race");
}

TEST(Races, TwoThreads_WithALock_AreNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static int sum = 0;
        static std::mutex mutex;
        add_in_two_threads([] {
          const std::scoped_lock lock(mutex);
          ++sum;
        });
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace accelopt::base
