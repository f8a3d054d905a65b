// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_record.hpp"

#include <gtest/gtest.h>

namespace accelopt::app {
namespace {

model::Experience experience(std::int64_t confirmed, std::int64_t refuted) {
  model::Experience one;
  one.polarity = model::Polarity::improves;
  one.effect = model::Interval{2.0, 1.9, 2.1};
  one.credit.confirmed = confirmed;
  one.credit.refuted = refuted;
  return one;
}

TEST(WorkedBefore, NeverSettled_Yes) {
  EXPECT_TRUE(worked_before(experience(0, 0)));
}

TEST(WorkedBefore, FailedAfterItPassed_No) {
  EXPECT_FALSE(worked_before(experience(1, 1)));
  EXPECT_FALSE(worked_before(experience(0, 1)));
}

TEST(WorkedBefore, HeldMoreOftenThanItFailed_Yes) {
  EXPECT_TRUE(worked_before(experience(2, 1)));
}

TEST(WorkedBefore, NoGainShown_No) {
  model::Experience slower = experience(3, 0);
  slower.polarity = model::Polarity::regresses;
  EXPECT_FALSE(worked_before(slower));
  model::Experience unknown = experience(3, 0);
  unknown.effect.reset();
  EXPECT_FALSE(worked_before(unknown));
}

}  // namespace
}  // namespace accelopt::app
