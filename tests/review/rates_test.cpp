// SPDX-License-Identifier: Apache-2.0
#include "review/rates.hpp"

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

Rates rates(int recalled, int flips, int pairs) {
  Rates rates;
  rates.pairs = pairs;
  rates.recall = {recalled, pairs};
  rates.flips = {flips, pairs};
  return rates;
}

TEST(Wilson, KnownShares_KnownIntervals) {
  // 15 of 50: 0.191 to 0.438 (Brown, Cai, DasGupta 2001, their formula 4).
  const stats::Interval interval = wilson({15, 50});
  EXPECT_NEAR(interval.low, 0.191, 0.001);
  EXPECT_NEAR(interval.high, 0.438, 0.001);
  EXPECT_EQ(wilson({0, 20}).low, 0);
  EXPECT_NEAR(wilson({0, 20}).high, 0.161, 0.001);
  EXPECT_EQ(wilson({20, 20}).high, 1);
  EXPECT_EQ(wilson({0, 0}).high, 1);
}

TEST(StandingOf, StatedLimits_DecideOrAdvise) {
  EXPECT_EQ(standing_of(rates(10, 3, 20)).weight, Weight::decides);
  EXPECT_EQ(standing_of(rates(9, 3, 20)).weight, Weight::advises);
  EXPECT_EQ(standing_of(rates(10, 4, 20)).weight, Weight::advises);
  EXPECT_EQ(standing_of(rates(19, 0, 19)).weight, Weight::advises);
  EXPECT_EQ(standing_of(std::nullopt).weight, Weight::advises);
}

TEST(Rates, RoundTrip_KeepsAll) {
  Rates one = rates(12, 1, 60);
  one.model = "m";
  one.own = {2, 15};
  one.usage.calls = 360;
  const auto back = base::Json(one).get<Rates>();
  EXPECT_EQ(base::Json(back), base::Json(one));
}

}  // namespace
}  // namespace accelopt::review
