// SPDX-License-Identifier: Apache-2.0
#include "stats/playoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "stats/noise.hpp"

namespace accelopt::stats {
namespace {

/// One round: the true log-scores plus noise for the arms that still run.
PlayoffBlock round_of(const Playoff& playoff, const std::vector<double>& truth, HeavyTailedNoise& noise) {
  PlayoffBlock block(truth.size());
  for (const int arm : playoff.active()) {
    block[static_cast<std::size_t>(arm)] = arm == 0 ? 0 : truth[static_cast<std::size_t>(arm)] + noise();
  }
  return block;
}

TEST(Playoff, EndsAfterTwelveBlocksWhenPlacesAreClear) {
  std::printf("seed 1\n");
  HeavyTailedNoise noise(1, 0.005);
  Playoff playoff(5, {.places = 2});
  const std::vector<double> truth{0, 2.0, 1.5, 0.7, 0.1};
  while (!playoff.finished()) playoff.add(round_of(playoff, truth, noise));
  EXPECT_EQ(playoff.blocks(), 12);
  EXPECT_TRUE(playoff.separated());
  EXPECT_EQ(playoff.ranking(), (std::vector<int>{1, 2, 3, 4, 0}));
  const std::vector<PlayoffArm> arms = playoff.arms();
  EXPECT_NEAR(arms[1].log_score.estimate, 2.0, 0.02);
  EXPECT_LE(arms[1].log_score.low, arms[1].log_score.estimate);
  EXPECT_EQ(arms[0].log_score.estimate, 0);
}

TEST(Playoff, DropsTheCertainlyOutEarlyButNeverTheBaseline) {
  std::printf("seed 2\n");
  HeavyTailedNoise noise(2, 0.002);
  Playoff playoff(4, {.places = 1});
  const std::vector<double> truth{0, 2.0, 0.5, 1.99};
  while (!playoff.finished()) playoff.add(round_of(playoff, truth, noise));
  const std::vector<PlayoffArm> arms = playoff.arms();
  EXPECT_TRUE(arms[2].dropped);
  EXPECT_LT(arms[2].blocks, 12);
  EXPECT_FALSE(arms[0].dropped);
  EXPECT_EQ(arms[0].blocks, playoff.blocks());
  const std::vector<int> active = playoff.active();
  EXPECT_EQ(active.front(), 0);
  EXPECT_EQ(std::count(active.begin(), active.end(), 2), 0);
}

TEST(Playoff, UsesAllBlocksWhenPlacesDoNotSeparate) {
  Playoff playoff(3, {.places = 1});
  while (!playoff.finished())
    playoff.add({0, 0.5 + 0.01 * (playoff.blocks() % 2), 0.51 - 0.01 * (playoff.blocks() % 2)});
  EXPECT_EQ(playoff.blocks(), 48);
  EXPECT_FALSE(playoff.separated());
}

TEST(Playoff, NeedsNothingSeparatedWhenAllFit) {
  Playoff playoff(3, {.places = 3});
  while (!playoff.finished()) playoff.add({0, 0.01 * (playoff.blocks() % 2), 0});
  EXPECT_EQ(playoff.blocks(), 12);
  EXPECT_TRUE(playoff.separated());
}

TEST(Playoff, GoesOnWithoutAnArmThatFailed) {
  std::printf("seed 3\n");
  HeavyTailedNoise noise(3, 0.005);
  Playoff playoff(4, {.places = 1});
  const std::vector<double> truth{0, 1.0, 2.0, 0.5};
  for (int block = 0; block < 5; ++block) playoff.add(round_of(playoff, truth, noise));
  playoff.fail(2);
  EXPECT_FALSE(playoff.finished());
  while (!playoff.finished()) playoff.add(round_of(playoff, truth, noise));
  EXPECT_EQ(playoff.ranking().front(), 1);
  EXPECT_TRUE(playoff.arms()[2].failed);
  EXPECT_EQ(playoff.arms()[2].blocks, 5);
}

TEST(Playoff, EndsAtOnceWithoutRivalsOrWithoutItsAnchor) {
  Playoff alone(2, {.places = 1});
  alone.fail(1);
  EXPECT_TRUE(alone.finished());
  Playoff adrift(3, {.places = 1});
  adrift.fail(0);
  EXPECT_TRUE(adrift.finished());
}

TEST(Playoff, AMissingCallCostsThatBlockOnly) {
  Playoff playoff(2, {.places = 1});
  for (int block = 0; !playoff.finished(); ++block) {
    playoff.add({0, block == 3 ? std::nullopt : std::optional<double>(0.5 + 0.001 * (block % 2))});
  }
  EXPECT_EQ(playoff.arms()[1].blocks, playoff.blocks() - 1);
  EXPECT_FALSE(playoff.arms()[1].failed);
}

TEST(Playoff, LeavesTheBaselineOutOfThePlacesWhenAsked) {
  Playoff playoff(3, {.places = 1, .baseline_competes = false});
  while (!playoff.finished()) playoff.add({0, -0.5 - 0.001 * (playoff.blocks() % 2), -1.0});
  EXPECT_EQ(playoff.ranking(), (std::vector<int>{1, 2}));
}

TEST(PlayoffSimulation, HardlyEverSeparatesEqualsNorDropsTheBest) {
  constexpr unsigned kSeed = 77;
  std::printf("seed %u\n", kSeed);
  HeavyTailedNoise noise(kSeed, 0.02);
  int wrong = 0;
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    Playoff playoff(5, {.places = 2});
    const std::vector<double> truth{0, 0.3, 0.3, 0.3, 0.3};
    while (!playoff.finished()) playoff.add(round_of(playoff, truth, noise));
    const std::vector<PlayoffArm> arms = playoff.arms();
    wrong += playoff.separated() || std::any_of(arms.begin(), arms.end(), [](const auto& arm) { return arm.dropped; });
  }
  EXPECT_LE(wrong, kRuns / 20);
}

TEST(Playoff, ExactSamples_OneBlockSeparates) {
  Playoff playoff(3, {.places = 1, .min_blocks = 1, .max_blocks = 1, .samples = Samples::exact});

  playoff.add({0.0, 0.1, 0.2});

  EXPECT_TRUE(playoff.finished());
  EXPECT_TRUE(playoff.separated());
  EXPECT_EQ(playoff.ranking().front(), 2);
  EXPECT_DOUBLE_EQ(playoff.arms()[1].log_score.low, 0.1);
}

}  // namespace
}  // namespace accelopt::stats
