// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_mine.hpp"

#include <gtest/gtest.h>

namespace accelopt::app {
namespace {

TEST(SpeaksOfSpeed, SubjectsThatSayIt_Yes) {
  for (const char* subject : {"perf: Hoist it", "perf(core): x", "Optimize lookups", "optimise the parser",
                              "Speed up joins", "Speedup of joins", "Make merging faster", "Fix quadratic link labels",
                              "O(n) instead of O(n^2) for emphasis", "Improve performance"})
    EXPECT_TRUE(speaks_of_speed(subject)) << subject;
}

TEST(SpeaksOfSpeed, OthersAndReverts_No) {
  for (const char* subject : {"fix: Handle no input", "Revert \"perf: Hoist it\"", "Merge branch perf", "perfect docs",
                              "Steadfaster wording", ""})
    EXPECT_FALSE(speaks_of_speed(subject)) << subject;
}

}  // namespace
}  // namespace accelopt::app
