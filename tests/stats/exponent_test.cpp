// SPDX-License-Identifier: Apache-2.0
#include "stats/exponent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace accelopt::stats {
namespace {

const std::vector<double> kSizes{100, 200, 400, 800, 1600, 3200};

/// Three restarts of four blocks in which the exponents differ by this much, with noise of this deviation.
std::vector<LadderRestart> blocks(double difference, double noise) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> scatter(0, noise);
  std::vector<LadderRestart> restarts(3);
  for (LadderRestart& restart : restarts) {
    for (int i = 0; i < 4; ++i) {
      LadderBlock block;
      for (const double size : kSizes) block.push_back(0.5 + difference * std::log(size / 100) + scatter(random));
      restart.push_back(block);
    }
  }
  return restarts;
}

TEST(ExponentDifference, QuadraticToLinear_IsClaimed) {
  const ExponentDifference found = exponent_difference(kSizes, blocks(1.0, 0.05));
  EXPECT_TRUE(found.claimed) << found.reason;
  EXPECT_LT(found.difference.low, 1.0);
  EXPECT_GT(found.difference.high, 1.0);
}

TEST(ExponentDifference, ConstantFactor_IsNotClaimed) {
  const ExponentDifference found = exponent_difference(kSizes, blocks(0.0, 0.05));
  EXPECT_FALSE(found.claimed);
  EXPECT_NE(found.reason.find("not certainly over"), std::string::npos);
}

TEST(ExponentDifference, TooMuchScatter_IsNotClaimed) {
  EXPECT_FALSE(exponent_difference(kSizes, blocks(0.4, 1.0)).claimed);
}

TEST(ExponentDifference, ShortLadder_IsRefused) {
  const std::vector<double> few{100, 200, 400};
  EXPECT_NE(exponent_difference(few, blocks(1.0, 0.05)).reason.find("6 sizes"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::stats
