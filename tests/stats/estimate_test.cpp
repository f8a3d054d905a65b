// SPDX-License-Identifier: Apache-2.0
#include "stats/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "stats/noise.hpp"

namespace accelopt::stats {
namespace {

TEST(Student, MatchesTables) {
  const auto of_one_degree = [](double p) { return std::tan(std::acos(-1.0) * (p - 0.5)); };
  const auto of_two_degrees = [](double p) { return (2 * p - 1) / std::sqrt(2 * p * (1 - p)); };
  for (const double p : {0.6, 0.975, 0.9999}) {
    EXPECT_NEAR(student_quantile(p, 1) / of_one_degree(p), 1, 1e-11) << p;
    EXPECT_NEAR(student_quantile(p, 2) / of_two_degrees(p), 1, 1e-11) << p;
  }
  EXPECT_NEAR(student_quantile(0.95, 5), 2.015048, 1e-6);
  EXPECT_NEAR(student_quantile(0.995, 10), 3.169273, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 60), 2.000298, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 1e7), 1.959964, 1e-5);
  EXPECT_NEAR(student_quantile(0.9999, 3), 22.203742277, 1e-6);
}

TEST(Student, IsSymmetricAndInvertsItsDistribution) {
  for (const double degrees : {1.0, 2.0, 3.5, 7.0, 59.0}) {
    for (const double p : {1e-6, 1e-3, 0.1, 0.4, 0.499999, 0.5, 0.7, 0.999}) {
      const double t = student_quantile(p, degrees);
      EXPECT_NEAR(student_cdf(t, degrees), p, 1e-11) << degrees << " " << p;
      EXPECT_NEAR(student_quantile(1 - p, degrees), -t, 1e-6 * (1 + std::abs(t))) << degrees << " " << p;
    }
  }
}

TEST(TrimmedMean, CutsAFifthOfEachEnd) {
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector<double>{100, 1, 2, 3, -100}), 2);
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector<double>{1, 2, 3, 6}), 3);  // floor(0.8) = 0 are cut
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector<double>{9, 0, 1, 2, 3, 4, 5, 6, 7, 8}), 4.5);
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector<double>{}), 0);
}

TEST(TrimmedInterval, IsYuens) {
  // By hand: winsorized 1 1 1... of {0, 1, 2, 3, 10} is {1, 1, 2, 3, 3}: sum of squares 4 about 2; kept 3, so the error
  // is sqrt(4 / (3 * 2)) and there are 2 degrees of freedom.
  const Interval interval = trimmed_interval(std::vector<double>{10, 0, 1, 2, 3}, 0.05);
  EXPECT_DOUBLE_EQ(interval.estimate, 2);
  EXPECT_NEAR(interval.high - 2, (0.95 / std::sqrt(2 * 0.975 * 0.025)) * std::sqrt(4.0 / 6), 1e-9);
  EXPECT_NEAR(2 - interval.low, (0.95 / std::sqrt(2 * 0.975 * 0.025)) * std::sqrt(4.0 / 6), 1e-9);
}

TEST(TrimmedInterval, KnowsNothingOfFewerThanTwoSamples) {
  const Interval interval = trimmed_interval(std::vector<double>{0.5}, 0.05);
  EXPECT_DOUBLE_EQ(interval.estimate, 0.5);
  EXPECT_DOUBLE_EQ(as_ratio(interval).low, 1 / kWidestRatio);
  EXPECT_DOUBLE_EQ(as_ratio(interval).high, kWidestRatio);
}

TEST(TrimmedInterval, CoversTheTruthAsOftenAsItSays) {
  constexpr unsigned kSeed = 20260;
  std::printf("seed %u\n", kSeed);
  HeavyTailedNoise noise(kSeed, 0.02);
  int missed = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> samples(24);
    for (double& sample : samples) sample = 0.1 + noise();
    const Interval interval = trimmed_interval(samples, 0.05);
    missed += interval.low > 0.1 || interval.high < 0.1;
  }
  EXPECT_LT(missed, 0.06 * kRuns);
  EXPECT_GT(missed, 0.02 * kRuns);  // an interval that never misses is too wide to be of use
}

TEST(Means, AreWeightedAndGeometric) {
  EXPECT_DOUBLE_EQ(weighted_mean(std::vector<double>{1, 4}, std::vector<double>{3, 1}), 1.75);
  EXPECT_DOUBLE_EQ(weighted_mean(std::vector<double>{1, 4}, std::vector<double>{0, 0}), 0);
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{}), 1);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5, 1, 3, 4}), 3.5);
}

TEST(Block, IsTheWeightedMeanOfLogRatios) {
  const double value =
      block_log_ratio(std::vector<double>{200, 100}, std::vector<double>{100, 100}, std::vector<double>{1, 3});
  EXPECT_NEAR(value, std::log(2.0) / 4, 1e-15);
}

TEST(Bootstrap, IsDeterministicInItsSeedAndSeesRestarts) {
  // Blocks within a restart agree; restarts differ by 4 %. The blocks alone would promise far too narrow an interval.
  std::vector<RestartSamples> restarts;
  for (const double level : {0.10, 0.12, 0.14}) {
    restarts.push_back({level, level + 0.001, level - 0.001, level, level + 0.0005, level - 0.0005, level, level});
  }
  const Interval first = hierarchical_bootstrap(restarts, 0.05, 7);
  const Interval again = hierarchical_bootstrap(restarts, 0.05, 7);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NEAR(first.estimate, 0.12, 1e-3);
  EXPECT_GT(first.high - first.low, 0.03);
  std::vector<RestartSamples> pooled(1);
  for (const auto& blocks : restarts) pooled[0].insert(pooled[0].end(), blocks.begin(), blocks.end());
  const Interval flat = hierarchical_bootstrap(pooled, 0.05, 7);
  EXPECT_GT(first.high - first.low, 1.5 * (flat.high - flat.low));
}

}  // namespace
}  // namespace accelopt::stats
