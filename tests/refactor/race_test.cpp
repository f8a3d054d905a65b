// SPDX-License-Identifier: Apache-2.0
#include "refactor/race.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "stats/noise.hpp"

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

TEST(TimeRatio, IsOfWhatThereIsBesideTheStartUp) {
  const StartUp slower{.old_seconds = 0.1, .new_seconds = 0.2};
  const StartUp faster{.old_seconds = 0.1, .new_seconds = 0.05};
  EXPECT_DOUBLE_EQ(time_log_ratio(0.5, 0.3, &slower), std::log(2.0)) << "a longer start-up is charged";
  EXPECT_DOUBLE_EQ(time_log_ratio(0.5, 0.45, &faster), 0) << "a shorter one is no gain";
  EXPECT_DOUBLE_EQ(time_log_ratio(0.5, 0.25, nullptr), std::log(2.0)) << "in whole";
}

/// A driver's runs on a machine that is shared: a start-up of 50 ms, old code that takes a second besides, and new code
/// that takes `gain` times less. `disturbed`: the deviation of a time's logarithm; fresh trees have a level of their
/// own.
class SimulatedRuns {
 public:
  SimulatedRuns(unsigned seed, double disturbed, std::vector<double> gains)
      : noise_(seed, disturbed), level_(seed + 1, disturbed / 4), gains_(std::move(gains)) {}

  /// The first unit is raced, and those that only guard leave blocks out as in a confirmation.
  stats::Confirmation confirm(const stats::ConfirmationRules& rules) {
    std::vector<double> weights(gains_.size(), 0);
    weights.front() = 1;
    std::vector<bool> raced(gains_.size(), false);
    raced.front() = true;
    stats::Confirmation confirmation(weights, rules);
    while (const int blocks = confirmation.next_restart_blocks()) {
      std::vector<bool> asked = confirmation.decision().answered;
      asked.flip();
      const auto of_units = blocks_of_units(raced, asked, confirmation.restarts(), blocks);
      const double level = level_();
      std::vector<std::vector<double>> restart;
      for (int block = 0; block < blocks; ++block) {
        auto& row = restart.emplace_back();
        for (std::size_t unit = 0; unit < gains_.size(); ++unit)
          row.push_back(block < of_units[unit] ? pair(gains_[unit], level) : stats::kLeftOut);
      }
      confirmation.add_restart(restart);
    }
    return confirmation;
  }
  [[nodiscard]] int pairs() const { return pairs_; }

 private:
  double pair(double gain, double level) {
    ++pairs_;
    const double old_seconds = kStart.old_seconds * std::exp(noise_()) + std::exp(noise_());
    const double new_seconds = kStart.old_seconds * std::exp(noise_()) + std::exp(noise_() + level) / gain;
    return time_log_ratio(old_seconds, new_seconds, &kStart);
  }

  static constexpr StartUp kStart{.old_seconds = 0.05, .new_seconds = 0.05};
  stats::HeavyTailedNoise noise_;
  stats::HeavyTailedNoise level_;
  std::vector<double> gains_;
  int pairs_ = 0;
};

stats::ConfirmationRules by_width_alone() {
  stats::ConfirmationRules rules = kConfirmationRules;
  rules.half_width_of_gain = 0;
  return rules;
}

TEST(ConfirmationSimulation, AHundredfoldGainTakesFewBlocks) {
  std::printf("seeds from 300\n");
  constexpr int kRuns = 20;
  int blocks = 0;
  int missed = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    const auto now = SimulatedRuns(300 + run, 0.1, {100}).confirm(kConfirmationRules).decision();
    EXPECT_TRUE(now.confirmed);
    blocks += now.blocks;
    missed += now.log_ratio.low > std::log(100) || now.log_ratio.high < std::log(100);
  }
  std::printf("%d blocks in %d confirmations; the truth missed by %d\n", blocks, kRuns, missed);
  EXPECT_LT(blocks, kRuns * 25);
  EXPECT_LE(missed, 2);
  EXPECT_EQ(SimulatedRuns(300, 0.1, {100}).confirm(by_width_alone()).decision().blocks, kConfirmationRules.max_blocks);
}

/// However much a machine disturbs: what noise shows of identical code is no gain whose interval may be wide.
TEST(ConfirmationSimulation, IdenticalCodeIsConfirmedNoOftener) {
  std::printf("seeds from 1000\n");
  constexpr int kRuns = 40;
  for (const double disturbed : {0.03, 0.6}) {
    int confirmed = 0;
    for (unsigned run = 0; run < kRuns; ++run) {
      const auto confirmation = SimulatedRuns(1000 + run, disturbed, {1}).confirm(kConfirmationRules);
      const auto before = stats::decide_confirmation(confirmation.blocks(), std::vector<double>{1}, by_width_alone());
      EXPECT_TRUE(before.enough) << "ended by the width that it ended by before";
      confirmed += confirmation.decision().confirmed;
    }
    std::printf("disturbed by %.2f: %d of %d confirmed\n", disturbed, confirmed, kRuns);
    EXPECT_LE(confirmed, 2);
  }
}

/// A large gain beside a size that is 15 % slower: fewer blocks must not let it through.
TEST(ConfirmationSimulation, AnotherSizesLossIsFoundBesideALargeGain) {
  std::printf("seeds from 2000\n");
  constexpr int kRuns = 20;
  int found = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    const std::vector<double> gains{100, 1 / 1.15};
    found += SimulatedRuns(2000 + run, 0.06, gains).confirm(kConfirmationRules).decision().regressed.has_value();
  }
  std::printf("found %d of %d\n", found, kRuns);
  EXPECT_GE(found, kRuns - 3);
}

stats::ConfirmationRules every_size_to_the_end() {
  stats::ConfirmationRules rules = kConfirmationRules;
  rules.answer_alpha = 0;
  return rules;
}

/// What becomes of a gain of 2x beside three sizes that guard: one of this ratio, two with a gain of their own.
struct Confirmed {
  int pairs = 0;
  int refused = 0;
  int blocks = 0;
};
Confirmed confirmed(const stats::ConfirmationRules& rules, double guarded, double disturbed, int runs) {
  Confirmed out;
  for (int run = 0; run < runs; ++run) {
    SimulatedRuns simulated(4000 + static_cast<unsigned>(run), disturbed, {2, guarded, 1.6, 1.3});
    const auto decision = simulated.confirm(rules).decision();
    out.pairs += simulated.pairs();
    out.refused += decision.regressed.has_value();
    out.blocks += decision.blocks;
  }
  return out;
}

/// A size that is certainly no slower takes part in fewer blocks, and none is let through for it.
TEST(ConfirmationSimulation, SizesThatGuardEndWithTheirOwnQuestion) {
  std::printf("seeds from 4000\n");
  constexpr int kRuns = 12;
  for (const double disturbed : {0.04, 0.15}) {
    for (const double guarded : {1.0, 1 / 1.25}) {
      const Confirmed before = confirmed(every_size_to_the_end(), guarded, disturbed, kRuns);
      const Confirmed now = confirmed(kConfirmationRules, guarded, disturbed, kRuns);
      std::printf(
          "disturbed by %.2f, a size at %.2fx: refused %d, before %d; pairs %d, before %d; blocks %d, before %d\n",
          disturbed, guarded, now.refused, before.refused, now.pairs, before.pairs, now.blocks, before.blocks);
      EXPECT_GE(now.refused, guarded < 1 ? before.refused - 2 : 0);
      EXPECT_LE(now.refused, before.refused + 1);
      EXPECT_LT(now.pairs, before.pairs * 9 / 10);
    }
  }
}

TEST(BlocksOfUnits, WhatIsAnsweredMeetsEachOfTheFirstTreesOnce) {
  const std::vector<bool> whole{true, false, false};
  const std::vector<bool> asked{false, true, false};
  EXPECT_EQ(blocks_of_units(whole, asked, 0, 4), (std::vector<int>{4, 4, 1}));
  EXPECT_EQ(blocks_of_units(whole, asked, 2, 4), (std::vector<int>{4, 4, 1}));
  EXPECT_EQ(blocks_of_units(whole, asked, 3, 4), (std::vector<int>{4, 4, 0}));
}

TEST(BlocksOfUnits, WhatGrowthIsToldOfIsInEveryBlock) {
  Task task;
  task.workloads = {{.name = "ladder", .sizes = {1, 2, 4, 8, 16, 32}}, {.name = "few", .sizes = {1, 64}}};
  std::vector<Unit> units = units_of(task, Sizes::all);
  const std::vector<bool> of_time{false, false, false, true, true, true, false, true};
  EXPECT_EQ(in_every_block(task, units), of_time);
  task.goal = Goal::memory;
  const std::vector<bool> of_memory{false, false, false, false, false, true, false, true};
  EXPECT_EQ(in_every_block(task, units), of_memory);
}

class GuardOfTime : public ::testing::Test {
 protected:
  /// After so many blocks of one unit.
  static std::string after(Goal goal, std::size_t blocks, double ratio, double scatter) {
    TimeGuard guard(goal, {{.workload = "random", .size = 400}});
    for (std::size_t i = 0; i < blocks; ++i) {
      UnitTimes times;
      times.time_log_ratio = std::log(ratio) + (i % 2 == 0 ? scatter : -scatter);
      guard.add({times});
    }
    return guard.broken();
  }
};

TEST_F(GuardOfTime, RefusesWhatIsCertainlySlower) {
  EXPECT_EQ(after(Goal::memory, 3, 0.6, 0.01), "") << "not looked at yet";
  EXPECT_TRUE(after(Goal::memory, 4, 0.6, 0.01).starts_with("random n=400 became slower: old / new 0.60x ["));
  EXPECT_TRUE(after(Goal::memory, 4, 0.6, 0.01).ends_with(", and 5 % is allowed"));
  EXPECT_NE(after(Goal::readability, 8, 0.85, 0.02), "");
}

TEST_F(GuardOfTime, LetsThroughWhatIsAllowedOrUncertain) {
  EXPECT_EQ(after(Goal::memory, 32, 0.96, 0.01), "") << "4 % slower";
  EXPECT_EQ(after(Goal::memory, 4, 0.8, 0.2), "") << "the confirmation sees more";
  EXPECT_EQ(after(Goal::time, 8, 0.5, 0.01), "") << "there it is what decides";
}

TEST_F(GuardOfTime, HardlyEverRefusesIdenticalCode) {
  std::printf("seeds from 3000\n");
  int refused = 0;
  constexpr int kRuns = 300;
  for (unsigned run = 0; run < kRuns; ++run) {
    stats::HeavyTailedNoise noise(3000 + run, 0.1);
    TimeGuard guard(Goal::readability, {{.workload = "random", .size = 400}, {.workload = "other", .size = 400}});
    for (int block = 0; block < 32 && guard.broken().empty(); ++block) {
      UnitTimes first;
      UnitTimes second;
      first.time_log_ratio = noise();
      second.time_log_ratio = noise();
      guard.add({first, second});
    }
    refused += !guard.broken().empty();
  }
  std::printf("%d of %d\n", refused, kRuns);
  EXPECT_LE(refused, 3);
}

}  // namespace
}  // namespace accelopt::refactor
