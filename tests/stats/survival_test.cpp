// SPDX-License-Identifier: Apache-2.0
#include "stats/survival.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace accelopt::stats {
namespace {

Duration at(double time) {
  return {time, Seen::event};
}
Duration until(double time) {
  return {time, Seen::censored};
}

// Weeks in remission of 21 patients with 6-mercaptopurine and 21 with a placebo. Freireich et al., Blood 21 (1963);
// Kleinbaum and Klein, Survival Analysis, table 1.1 and 2.2, has the curve.
const std::vector<Duration> kTreated{at(6),     at(6),     at(6),     until(6),  at(7),     until(9),  at(10),
                                     until(10), until(11), at(13),    at(16),    until(17), until(19), until(20),
                                     at(22),    at(23),    until(25), until(32), until(32), until(34), until(35)};
const std::vector<Duration> kPlacebo{at(1), at(1), at(2),  at(2),  at(3),  at(4),  at(4),  at(5),  at(5),  at(8), at(8),
                                     at(8), at(8), at(11), at(11), at(12), at(12), at(15), at(17), at(22), at(23)};

TEST(Survival_KaplanMeier, PublishedCurve_IsFound) {
  const auto curve = kaplan_meier(kTreated);
  const std::vector<SurvivalStep> expected{{6, 21, 3, .8571},  {7, 17, 1, .8067},  {10, 15, 1, .7529},
                                           {13, 12, 1, .6902}, {16, 11, 1, .6275}, {22, 7, 1, .5378},
                                           {23, 6, 1, .4482}};
  ASSERT_EQ(curve.size(), expected.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(curve[i].time, expected[i].time);
    EXPECT_EQ(curve[i].at_risk, expected[i].at_risk);
    EXPECT_EQ(curve[i].events, expected[i].events);
    EXPECT_NEAR(curve[i].survival, expected[i].survival, 1e-4);
  }
}

TEST(Survival_MedianTime, PublishedMedians_AreFound) {
  EXPECT_EQ(median_time(kaplan_meier(kTreated)), 23);
  EXPECT_EQ(median_time(kaplan_meier(kPlacebo)), 8);
}

TEST(Survival_MedianTime, MostCensored_IsUnknown) {
  EXPECT_EQ(median_time(kaplan_meier(std::vector{at(1), until(9), until(9)})), std::nullopt);
  EXPECT_EQ(median_time({}), std::nullopt);
}

TEST(Survival_MedianTime, CurveAtOneHalf_IsThatTime) {
  // 1 - 1/4, then 2/3 of it: one half exactly.
  EXPECT_EQ(median_time(kaplan_meier(std::vector{at(2), at(5), until(9), until(9)})), 5);
}

TEST(Survival_RestrictedMean, PublishedMeans_AreFound) {
  // 23.29 weeks up to week 35, and the plain mean where nothing is censored: 182 / 21.
  EXPECT_NEAR(restricted_mean(kaplan_meier(kTreated), 35), 23.29, 0.005);
  EXPECT_NEAR(restricted_mean(kaplan_meier(kPlacebo), 35), 182.0 / 21, 1e-9);
}

TEST(Survival_RestrictedMean, ByHand_CountsTheHorizon) {
  // Two of four resolved: (2 + 5 + 10 + 10) / 4.
  const auto curve = kaplan_meier(std::vector{at(2), at(5), until(10), until(10)});
  EXPECT_DOUBLE_EQ(restricted_mean(curve, 10), 6.75);
  EXPECT_DOUBLE_EQ(restricted_mean(curve, 4), (2 + 4 + 4 + 4) / 4.0);
  EXPECT_DOUBLE_EQ(restricted_mean({}, 10), 10);
}

TEST(Survival_RestrictedMean, EarlyCensored_SharesItsTime) {
  // The one that was watched until 4 only is thought to be like those that were watched longer.
  EXPECT_DOUBLE_EQ(restricted_mean(kaplan_meier(std::vector{at(2), until(4), at(6)}), 10), 2 + 4 * 2.0 / 3);
}

TEST(Survival_RatioOverGroups, Groups_CountAlike) {
  // A task with three seeds weighs no more than one with one: exp((log 2 + log 8) / 2).
  const std::vector<std::vector<double>> groups{{std::log(2), std::log(2), std::log(2)}, {std::log(8)}, {}};
  const auto ratio = ratio_over_groups(groups, 0.05, 1);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->estimate, 4, 1e-12);
  EXPECT_NEAR(ratio->low, 2, 1e-12);
  EXPECT_NEAR(ratio->high, 8, 1e-12);
}

TEST(Survival_RatioOverGroups, Interval_IsAsWideAsTheory) {
  // 30 groups, half at +1 and half at -1: the mean's deviation is 1 / sqrt(30), its interval 1.96 times that.
  std::vector<std::vector<double>> groups;
  for (int i = 0; i < 30; ++i) groups.push_back({i % 2 == 0 ? 1.0 : -1.0});
  const auto ratio = ratio_over_groups(groups, 0.05, 7);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(std::log(ratio->high), 1.96 / std::sqrt(30), 0.05);
  EXPECT_NEAR(std::log(ratio->low), -1.96 / std::sqrt(30), 0.05);
}

TEST(Survival_RatioOverGroups, OneGroup_IsUnknown) {
  EXPECT_FALSE(ratio_over_groups(std::vector<std::vector<double>>{{1.0}, {}}, 0.05, 1));
}

}  // namespace
}  // namespace accelopt::stats
