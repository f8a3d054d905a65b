// SPDX-License-Identifier: Apache-2.0
#include "stats/halving.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "stats/grid_search.hpp"
#include "stats/noise.hpp"

namespace accelopt::stats {
namespace {

std::vector<RungFate> fates(const std::vector<std::vector<double>>& samples, const HalvingRules& rules = {}) {
  std::vector<RungFate> out;
  for (const RungStanding& standing : judge_rung(samples, rules)) out.push_back(standing.fate);
  return out;
}

TEST(JudgeRung, TheClearlySlowerGoAtOnceAndTheSlowerHalfAfterThem) {
  EXPECT_EQ(fates({{0, 0, 0}, {-0.3, -0.2, -0.25}, {-0.01, 0.01, -0.02}, {0.02, 0.03, 0.01}, {}}),
            (std::vector<RungFate>{RungFate::stays, RungFate::slower, RungFate::outranked, RungFate::leads,
                                   RungFate::absent}));
}

TEST(JudgeRung, OneNoisySampleDropsNobodyAndCrownsNobody) {
  // The fastest was disturbed once, by a factor of e; the slowest seemed fast once.
  const auto standings =
      judge_rung(std::vector<std::vector<double>>{{0, 0, 0}, {0.1, -1, 0.11}, {-0.1, 1, -0.1}, {-0.05, -0.05, -0.04}});
  EXPECT_EQ(standings[1].fate, RungFate::leads);
  EXPECT_EQ(standings[0].fate, RungFate::stays);
  EXPECT_EQ(standings[2].fate, RungFate::outranked);
  EXPECT_NEAR(standings[0].log_ratio.estimate, -0.1, 1e-12);
}

TEST(JudgeRung, FewerThanThreeSamplesDecideNothing) {
  EXPECT_EQ(fates({{0, 0}, {-2, -2}, {-3}}),
            (std::vector<RungFate>{RungFate::leads, RungFate::stays, RungFate::stays}));
}

TEST(JudgeRung, WhatIsCertainlySlowerGoesHoweverSmallTheDifference) {
  std::vector<double> close;
  for (int i = 0; i < 6; ++i) close.push_back(-0.02 + 0.001 * (i % 2));
  const auto standings = judge_rung(std::vector<std::vector<double>>{std::vector<double>(6, 0.0), close});
  EXPECT_EQ(standings[1].fate, RungFate::slower);
  EXPECT_LT(standings[1].log_ratio.high, 0);
}

TEST(JudgeRung, EqualsAreNotRacedToTheEnd) {
  std::vector<double> same;
  for (int i = 0; i < 12; ++i) same.push_back(i % 2 == 0 ? 0.002 : -0.002);
  EXPECT_EQ(fates({std::vector<double>(12, 0.0), same})[1], RungFate::level);
  std::vector<double> wide;
  for (int i = 0; i < 6; ++i) wide.push_back(i % 2 == 0 ? 0.012 : -0.012);
  EXPECT_EQ(fates({std::vector<double>(6, 0.0), wide})[1], RungFate::outranked);
}

TEST(JudgeRung, AFewSamplesThatAllLieTogetherAreLevel) {
  EXPECT_EQ(fates({{0.001, 0, -0.001}, {-0.002, 0.003, -0.001}, {-0.004, 0.002, -0.011}}),
            (std::vector<RungFate>{RungFate::leads, RungFate::level, RungFate::stays}));
  // A leader whose own samples are apart is nothing to be level with.
  EXPECT_EQ(fates({{0.02, 0, -0.02}, {-0.002, 0.003, -0.001}})[1], RungFate::outranked);
}

TEST(JudgeRung, NobodyPresentIsNobodyAhead) {
  EXPECT_EQ(fates({{}, {}}), (std::vector<RungFate>{RungFate::absent, RungFate::absent}));
  EXPECT_TRUE(judge_rung({}).empty());
  EXPECT_EQ(fates({{}, {0.5, 0.4, 0.6}}), (std::vector<RungFate>{RungFate::absent, RungFate::leads}));
}

TEST(JudgeRung, SaysTheSameAgain) {
  std::printf("seed 11\n");
  HeavyTailedNoise noise(11, 0.01);
  std::vector<std::vector<double>> samples(20);
  for (std::size_t arm = 0; arm < samples.size(); ++arm) {
    for (int block = 0; block < 6; ++block) samples[arm].push_back(-0.01 * static_cast<double>(arm) + noise());
  }
  EXPECT_EQ(fates(samples), fates(samples));
}

TEST(HalvingSimulation, TheWinnerIsNearlyAlwaysWithinTwoPerCentOfTheBest) {
  constexpr unsigned kSeed = 3;
  std::printf("seed %u\n", kSeed);
  HeavyTailedNoise noise(kSeed, 0.01);
  const HalvingRules rules;
  constexpr int kRuns = 300;
  int far = 0;
  int most_samples = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> truth(32);
    for (std::size_t arm = 0; arm < truth.size(); ++arm)
      truth[arm] = -0.02 * static_cast<double>((arm * 7 + static_cast<std::size_t>(run)) % truth.size());
    std::vector<std::size_t> left(truth.size());
    for (std::size_t arm = 0; arm < left.size(); ++arm) left[arm] = arm;
    std::size_t winner = 0;
    int used = 0;
    for (const int blocks : rules.rung_blocks) {
      std::vector<std::vector<double>> samples(truth.size());
      for (const std::size_t arm : left) {
        for (int block = 0; block < blocks; ++block) samples[arm].push_back(truth[arm] + noise());
        used += blocks;
      }
      const auto standings = judge_rung(samples, rules);
      left.clear();
      for (std::size_t arm = 0; arm < truth.size(); ++arm) {
        if (standings[arm].fate == RungFate::leads) winner = arm;
        if (standings[arm].fate == RungFate::leads || standings[arm].fate == RungFate::stays) left.push_back(arm);
      }
      if (left.size() < 2) break;
    }
    far += truth[winner] < -0.021 ? 1 : 0;
    most_samples = std::max(most_samples, used);
  }
  EXPECT_LE(far, kRuns / 20);
  EXPECT_LE(most_samples, 32 * 3 + 16 * 6 + 8 * 12 + 4 * 24);
}

std::vector<GridPoint> grid(int a, int b, int c) {
  std::vector<GridPoint> points;
  for (int i = 0; i < a; ++i) {
    for (int j = 0; j < b; ++j) {
      for (int k = 0; k < c; ++k) points.push_back({i, j, k});
    }
  }
  return points;
}

TEST(SpreadPoints, MeetsEveryValueEquallyOften) {
  const auto points = grid(4, 3, 4);
  const auto chosen = spread_points(points, 12, 5);
  ASSERT_EQ(chosen.size(), 12U);
  for (const auto& [axis, size] : {std::pair{0, 4}, std::pair{1, 3}, std::pair{2, 4}}) {
    for (int value = 0; value < size; ++value) {
      const auto uses = std::count_if(chosen.begin(), chosen.end(), [&, axis = axis](std::size_t point) {
        return points[point][static_cast<std::size_t>(axis)] == value;
      });
      EXPECT_EQ(uses, 12 / size) << axis << " " << value;
    }
  }
  EXPECT_EQ(chosen, spread_points(points, 12, 5));
  EXPECT_NE(chosen, spread_points(points, 12, 6));
}

TEST(SpreadPoints, GivesAllWhenFewerAreThere) {
  const auto points = grid(2, 1, 2);
  EXPECT_EQ(spread_points(points, 9, 1).size(), 4U);
  EXPECT_TRUE(spread_points({}, 9, 1).empty());
}

TEST(PromisingPoints, FollowTheEffectsOfTheValues) {
  const auto points = grid(4, 3, 4);
  std::vector<std::optional<double>> scores(points.size());
  const auto truth = [&](std::size_t i) {
    return 1.0 * points[i][0] - 0.5 * std::abs(points[i][1] - 1) + 0.1 * points[i][2];
  };
  for (const std::size_t i : spread_points(points, 12, 5)) scores[i] = truth(i);
  double best = -100;
  for (std::size_t i = 0; i < points.size(); ++i) best = std::max(best, truth(i));
  double found = -100;
  for (const std::size_t i : promising_points(points, scores, 6)) {
    EXPECT_FALSE(scores[i]);
    found = std::max(found, truth(i));
  }
  for (const auto& score : scores) found = std::max(found, score.value_or(-100));
  EXPECT_DOUBLE_EQ(found, best);
}

TEST(PromisingPoints, KeepAwayFromWhatFailed) {
  const auto points = grid(2, 1, 3);
  std::vector<std::optional<double>> scores(points.size());
  scores[0] = 0.0;            // {0, 0, 0}
  scores[3] = -std::nan("");  // {1, 0, 0} failed
  scores[1] = 0.1;            // {0, 0, 1}
  scores[4] = -std::nan("");  // {1, 0, 1} failed
  EXPECT_EQ(promising_points(points, scores, 1), (std::vector<std::size_t>{2}));
  EXPECT_EQ(promising_points(points, scores, 9).size(), 2U);
  EXPECT_TRUE(promising_points(points, std::vector<std::optional<double>>(points.size()), 3).empty());
}

TEST(Halving, ExactSamples_OneRungOfOneBlockDecides) {
  const HalvingRules rules = halving_rules(Samples::exact);

  EXPECT_EQ(rules.rung_blocks, std::vector<int>{1});
  EXPECT_EQ(fates({{0.1}, {0.2}, {0.2}, {}}, rules),
            (std::vector{RungFate::slower, RungFate::leads, RungFate::level, RungFate::absent}));
}

}  // namespace
}  // namespace accelopt::stats
