// SPDX-License-Identifier: Apache-2.0
#include "stats/triage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "stats/noise.hpp"

namespace accelopt::stats {
namespace {

TriageDecision race(HeavyTailedNoise& noise, double effect) {
  Triage triage;
  while (!triage.decided()) triage.add(effect + noise());
  return triage.decision();
}

struct Tally {
  double faster = 0;
  double slower = 0;
  double blocks = 0;  ///< a race, on average
};

Tally simulate(unsigned seed, double deviation, double effect, int races) {
  HeavyTailedNoise noise(seed, deviation);
  Tally tally;
  for (int i = 0; i < races; ++i) {
    const TriageDecision decision = race(noise, effect);
    tally.faster += decision.verdict == RaceVerdict::faster;
    tally.slower += decision.verdict == RaceVerdict::slower;
    tally.blocks += decision.blocks;
  }
  tally.faster /= races;
  tally.slower /= races;
  tally.blocks /= races;
  std::printf("seed %u deviation %.3f effect %+.3f: FASTER %.4f SLOWER %.4f blocks %.1f\n", seed, deviation, effect,
              tally.faster, tally.slower, tally.blocks);
  return tally;
}

TEST(Triage, KeepsTheClearlyFasterAfterFourBlocks) {
  EXPECT_EQ(decide_triage(std::vector<double>{0.70, 0.72, 0.71}).verdict, RaceVerdict::running);
  const TriageDecision clear = decide_triage(std::vector<double>{0.70, 0.72, 0.71, 0.73});
  EXPECT_EQ(clear.verdict, RaceVerdict::faster);
  EXPECT_EQ(clear.decided_by, DecidedBy::race);
  EXPECT_EQ(clear.blocks, 4);
  // One block that is not, or an interval that knows nothing yet, and it races on.
  EXPECT_EQ(decide_triage(std::vector<double>{0.70, 0.72, 0.25, 0.73}).verdict, RaceVerdict::running);
  EXPECT_EQ(decide_triage(std::vector<double>{0.30, 2.50, 0.40, 1.90}).verdict, RaceVerdict::running);
}

TEST(Triage, SaysFasterOnlyAfterEightBlocks) {
  Triage triage;
  for (int block = 1; block < 8; ++block) {
    triage.add(0.20 + 0.001 * (block % 3));
    EXPECT_FALSE(triage.decided()) << block;
  }
  triage.add(0.20);
  EXPECT_EQ(triage.decision().verdict, RaceVerdict::faster);
  EXPECT_EQ(triage.decision().decided_by, DecidedBy::race);
  EXPECT_EQ(triage.decision().blocks, 8);
  EXPECT_GT(triage.decision().log_ratio.low, std::log1p(0.005));
}

TEST(Triage, DropsTheClearlySlowerAfterFourBlocksEvenWhenTheyVary) {
  const std::vector<double> samples{-0.2, -1.5, -0.16, -0.9};
  EXPECT_EQ(decide_triage(std::vector<double>(samples.begin(), samples.end() - 1)).verdict, RaceVerdict::running);
  const TriageDecision decision = decide_triage(samples);
  EXPECT_EQ(decision.verdict, RaceVerdict::slower);
  EXPECT_EQ(decision.decided_by, DecidedBy::race);
  EXPECT_EQ(decision.blocks, 4);
  EXPECT_EQ(decide_triage(std::vector<double>{-0.2, -1.5, -0.1, -0.9}).verdict,
            RaceVerdict::running);  // 0.1 is under 15 %
}

TEST(Triage, IsFutileWhenCertainlyUnderOnePercent) {
  Triage triage;
  for (int block = 0; !triage.decided(); ++block) triage.add(block % 2 == 0 ? 0.002 : -0.002);
  EXPECT_EQ(triage.decision().verdict, RaceVerdict::tie);
  EXPECT_EQ(triage.decision().decided_by, DecidedBy::futility);
  EXPECT_LT(triage.decision().log_ratio.high, std::log1p(0.01));
}

TEST(Triage, WhatLooksSlowerThanATieRacesOnUntilThatIsCertain) {
  Triage triage;
  // Around 5 % slower with such noise that after four blocks only "no gain" is certain.
  const std::vector<double> blocks = {-0.045, -0.055, -0.040, -0.060, -0.050, -0.048, -0.052, -0.050};
  for (const double block : blocks) triage.add(block);
  EXPECT_EQ(triage.decision().verdict, RaceVerdict::slower);
  EXPECT_EQ(triage.decision().decided_by, DecidedBy::race);
}

TEST(Triage, IsFutileWhenTheIntervalIsNarrowAndTheGainSmall) {
  Triage triage;
  for (int block = 0; !triage.decided(); ++block) triage.add(0.008 + (block % 2 == 0 ? 0.007 : -0.007));
  EXPECT_EQ(triage.decision().verdict, RaceVerdict::tie);
  EXPECT_EQ(triage.decision().decided_by, DecidedBy::futility);
  EXPECT_GT(triage.decision().log_ratio.high, std::log1p(0.01));
  EXPECT_LT(triage.decision().log_ratio.high - triage.decision().log_ratio.low, 0.013);
}

TEST(Triage, DoesNotGiveUpOnANarrowIntervalThatPromisesAGain) {
  // Six equal blocks of 5 %: narrow, but FASTER only waits for the eighth block.
  Triage triage;
  for (int block = 0; block < 6; ++block) triage.add(0.05 + 0.0001 * block);
  EXPECT_FALSE(triage.decided());
  triage.add(0.05);
  triage.add(0.05);
  EXPECT_EQ(triage.decision().verdict, RaceVerdict::faster);
}

TEST(Triage, GivesUpWhatWillHardlyShowAGain) {
  Triage wild;
  Triage level;
  Triage hopeful;
  for (int block = 0; block < 48; ++block) {
    wild.add(block % 2 == 0 ? 0.3 : -0.3);
    level.add(block % 2 == 0 ? 0.015 : -0.015);
    if (block < 24) hopeful.add(0.02 + (block % 2 == 0 ? 0.04 : -0.04));
  }
  EXPECT_EQ(wild.decision().verdict, RaceVerdict::undecided);
  EXPECT_EQ(wild.decision().decided_by, DecidedBy::futility);
  EXPECT_EQ(wild.decision().blocks, 48);
  EXPECT_EQ(level.decision().verdict, RaceVerdict::tie);
  EXPECT_EQ(level.decision().decided_by, DecidedBy::futility);
  EXPECT_GT(level.decision().log_ratio.high, std::log1p(0.01));  // not certain of being no gain: unlikely to be one
  EXPECT_FALSE(hopeful.decided());
}

TEST(Triage, CapsAtTwoHundredBlocks) {
  TriageRules rules;
  rules.hope_from = 1000;  // else both are given up before
  Triage wild(rules);
  Triage level(rules);
  for (int block = 0; block < 200; ++block) {
    wild.add(block % 2 == 0 ? 0.3 : -0.28);
    level.add(0.008 + (block % 2 == 0 ? 0.06 : -0.06));
  }
  EXPECT_EQ(wild.decision().verdict, RaceVerdict::undecided);
  EXPECT_EQ(wild.decision().decided_by, DecidedBy::cap);
  EXPECT_EQ(wild.decision().blocks, 200);
  EXPECT_EQ(level.decision().verdict, RaceVerdict::tie);
  EXPECT_EQ(level.decision().decided_by, DecidedBy::cap);
}

TEST(Triage, DecidesWithWhatThereIsWhenTheTimeIsUp) {
  Triage nothing;
  EXPECT_EQ(nothing.expire().verdict, RaceVerdict::undecided);
  EXPECT_EQ(nothing.decision().decided_by, DecidedBy::cap);
  Triage fast;
  for (int block = 0; block < 11; ++block) fast.add(block < 8 ? (block % 2 == 0 ? 0.062 : 0.158) : 0.11);
  ASSERT_FALSE(fast.decided());  // the look after 8 was too early; the next is after 12
  EXPECT_EQ(fast.expire().verdict, RaceVerdict::faster);
  EXPECT_EQ(fast.decision().blocks, 11);
}

TEST(Triage, PromisesAGainWhileItIsNotCertain) {
  Triage level;
  Triage gain;
  EXPECT_FALSE(gain.promising());  // there are no blocks
  for (int block = 0; block < 24; ++block) {
    level.add(0.005 + (block % 2 == 0 ? 0.04 : -0.04));
    gain.add(0.02 + (block % 2 == 0 ? 0.04 : -0.04));
  }
  EXPECT_FALSE(level.promising());
  EXPECT_TRUE(gain.promising());
  EXPECT_FALSE(gain.decided());
}

TEST(Triage, PromisesBeforeItsFirstLook) {
  // Where a block takes a second, time is up before the first look, which one more block would reach.
  Triage gain;
  Triage loss;
  gain.add(0.3);
  loss.add(-0.3);
  EXPECT_TRUE(gain.promising());
  EXPECT_FALSE(loss.promising());
}

TEST(Triage, IgnoresBlocksAfterItsDecision) {
  Triage triage;
  for (int block = 0; block < 8; ++block) triage.add(0.2 + 0.001 * (block % 2));
  const TriageDecision decided = triage.decision();
  triage.add(-5);
  triage.expire();
  EXPECT_EQ(triage.decision().verdict, decided.verdict);
  EXPECT_EQ(triage.samples().size(), 8U);
}

TEST(Triage, DecidesAgainFromStoredSamples) {
  constexpr unsigned kSeed = 4711;
  std::printf("seed %u\n", kSeed);
  HeavyTailedNoise noise(kSeed, 0.02);
  for (int i = 0; i < 200; ++i) {
    Triage triage;
    const double effect = 0.002 * (i % 21 - 10);
    while (!triage.decided()) triage.add(effect + noise());
    const TriageDecision again = decide_triage(triage.samples());
    EXPECT_EQ(again.verdict, triage.decision().verdict);
    EXPECT_EQ(again.decided_by, triage.decision().decided_by);
    EXPECT_EQ(again.blocks, triage.decision().blocks);
    EXPECT_EQ(again.log_ratio.low, triage.decision().log_ratio.low);
  }
}

TEST(TriageSimulation, IdenticalArmsAreHardlyEverCalledFaster) {
  for (const double deviation : {0.01, 0.03, 0.039}) {
    const Tally tally = simulate(101, deviation, 0, 4000);
    EXPECT_LE(tally.faster, 0.01);
    EXPECT_LE(tally.slower, 0.02);
  }
}

TEST(TriageSimulation, GivingUpEarlySavesMostBlocksAndFewGains) {
  const auto simulated = [](double effect, int hope_from) {
    HeavyTailedNoise noise(107, 0.04);
    Tally tally;
    TriageRules rules;
    rules.hope_from = hope_from;
    for (int i = 0; i < 600; ++i) {
      Triage triage(rules);
      while (!triage.decided()) triage.add(effect + noise());
      tally.faster += (triage.decision().verdict == RaceVerdict::faster) / 600.0;
      tally.slower += (triage.decision().verdict == RaceVerdict::slower) / 600.0;
      tally.blocks += triage.decision().blocks / 600.0;
    }
    std::printf("seed 107 effect %+.2f hope from %d: FASTER %.3f SLOWER %.3f blocks %.1f\n", effect, hope_from,
                tally.faster, tally.slower, tally.blocks);
    return tally;
  };
  const int usual = TriageRules().hope_from;
  constexpr int kNever = 1000;
  EXPECT_LE(simulated(0, usual).blocks, 0.4 * simulated(0, kNever).blocks);
  EXPECT_GE(simulated(std::log(1.02), usual).faster, simulated(std::log(1.02), kNever).faster - 0.1);
  EXPECT_GE(simulated(-std::log(1.05), usual).slower, 0.95);
}

TEST(TriageSimulation, FindsGains) {
  EXPECT_GE(simulate(102, 0.01, std::log(1.05), 1000).faster, 0.99);
  EXPECT_GE(simulate(103, 0.03, std::log(1.05), 1000).faster, 0.97);
  EXPECT_GE(simulate(104, 0.01, std::log(1.02), 1000).faster, 0.90);
  EXPECT_GE(simulate(105, 0.022, std::log(1.02), 1000).faster, 0.97);
  EXPECT_GE(simulate(108, 0.039, std::log(1.02), 1000).faster, 0.95);
}

TEST(TriageSimulation, ThrowsOutClearLosersAfterFourBlocks) {
  for (const double loss : {1.3, 2.0}) {
    const Tally tally = simulate(106, 0.01, -std::log(loss), 1000);
    EXPECT_GE(tally.slower, 0.99);
    EXPECT_LE(tally.blocks, 5.0);
    EXPECT_EQ(tally.faster, 0);
  }
}

TEST(Triage, ExactSamples_OneBlockDecides) {
  const auto verdict = [](double log_ratio) {
    Triage triage(triage_rules(Samples::exact));
    EXPECT_EQ(triage.add(log_ratio).blocks, 1);
    return triage.decision().verdict;
  };
  EXPECT_EQ(verdict(std::log(1.01)), RaceVerdict::faster);
  EXPECT_EQ(verdict(std::log(1.004)), RaceVerdict::tie);  // certain, and not worth having
  EXPECT_EQ(verdict(0), RaceVerdict::tie);
  EXPECT_EQ(verdict(-std::log(1.01)), RaceVerdict::slower);
}

}  // namespace
}  // namespace accelopt::stats
