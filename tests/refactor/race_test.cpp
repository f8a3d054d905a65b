// SPDX-License-Identifier: Apache-2.0
#include "refactor/race.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace accelopt::refactor {
namespace {

constexpr double kMebibyte = 1 << 20;
constexpr StartUp kStartUp{
    .old_seconds = 0, .new_seconds = 0, .old_peak_bytes = 10 * kMebibyte, .new_peak_bytes = 10 * kMebibyte};

TEST(MemoryRatio, IsOfWhatThereIsBesideTheStartUp) {
  EXPECT_DOUBLE_EQ(memory_log_ratio(50 * kMebibyte, 20 * kMebibyte, &kStartUp), std::log(4));
  EXPECT_DOUBLE_EQ(memory_log_ratio(50 * kMebibyte, 20 * kMebibyte, nullptr), std::log(2.5));
  EXPECT_DOUBLE_EQ(memory_log_ratio(20 * kMebibyte, 50 * kMebibyte, &kStartUp), -std::log(4));
}

TEST(MemoryRatio, WhatStartsLargerIsChargedForIt) {
  StartUp larger = kStartUp;
  larger.new_peak_bytes = 40 * kMebibyte;
  EXPECT_EQ(memory_log_ratio(50 * kMebibyte, 50 * kMebibyte, &larger), 0);
  StartUp smaller = kStartUp;
  smaller.new_peak_bytes = 5 * kMebibyte;
  EXPECT_LT(memory_log_ratio(50 * kMebibyte, 45 * kMebibyte, &smaller), std::log(1.01))
      << "a smaller start-up is no gain";
}

TEST(MemoryRatio, PagesAndAllocatorsMakeNoDifference) {
  EXPECT_EQ(memory_log_ratio(20 * kMebibyte, 19.1 * kMebibyte, &kStartUp), 0) << "under 1 MiB";
  EXPECT_EQ(memory_log_ratio(200 * kMebibyte, 196.5 * kMebibyte, &kStartUp), 0) << "under 2 %";
  EXPECT_GT(memory_log_ratio(200 * kMebibyte, 195 * kMebibyte, &kStartUp), 0);
  EXPECT_DOUBLE_EQ(memory_log_ratio(20 * kMebibyte, 10 * kMebibyte, &kStartUp), std::log(10)) << "the least is 1 MiB";
}

}  // namespace
}  // namespace accelopt::refactor
