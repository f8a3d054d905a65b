// SPDX-License-Identifier: Apache-2.0
#include "review/decision.hpp"

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

Vote vote(bool swapped, Better better) {
  return {swapped, better};
}

PairResult won(std::size_t first, std::size_t second, Better better) {
  return {first, second, {.better = better, .stable = true, .flipped = false, .first_shown = 0, .answers = 4}};
}

std::vector<Contestant> three() {
  return {{.id = "c", .disqualified = false, .rubric = 10, .diff_lines = 9},
          {.id = "b", .disqualified = false, .rubric = 10, .diff_lines = 9},
          {.id = "a", .disqualified = false, .rubric = 10, .diff_lines = 9}};
}

TEST(OutcomeOf, SameInBothOrders_IsStable) {
  const PairOutcome outcome = outcome_of(std::vector{vote(false, Better::first), vote(true, Better::second)});
  EXPECT_TRUE(outcome.stable);
  EXPECT_FALSE(outcome.flipped);
  EXPECT_EQ(outcome.better, Better::first);
  EXPECT_EQ(outcome.first_shown, 1);
}

TEST(OutcomeOf, FirstPlaceInBothOrders_IsTieByFlip) {
  const PairOutcome outcome = outcome_of(std::vector{vote(false, Better::first), vote(true, Better::first)});
  EXPECT_FALSE(outcome.stable);
  EXPECT_TRUE(outcome.flipped);
  EXPECT_EQ(outcome.better, Better::equal);
  EXPECT_EQ(outcome.first_shown, 2);
}

TEST(OutcomeOf, DrawsOfOneOrderDiffer_IsTieWithoutFlip) {
  const PairOutcome outcome = outcome_of(std::vector{vote(false, Better::first), vote(false, Better::equal)});
  EXPECT_FALSE(outcome.stable);
  EXPECT_FALSE(outcome.flipped);
}

TEST(OutcomeOf, UnreadableAnswer_IsNotStable) {
  const PairOutcome outcome = outcome_of(std::vector{vote(false, Better::first), Vote{true, std::nullopt}});
  EXPECT_FALSE(outcome.stable);
  EXPECT_EQ(outcome.answers, 1);
  EXPECT_FALSE(outcome_of({}).stable);
}

TEST(Decide, ClockSeparates_PairsDoNotCount) {
  const std::vector<CertainlyBetter> certain{{0, 1}, {0, 2}};
  const std::vector<PairResult> pairs{won(0, 1, Better::second), won(0, 2, Better::second)};
  const Decision decision = decide(three(), certain, pairs, Weight::decides);
  EXPECT_EQ(decision.choice.chosen, 0U);
  EXPECT_EQ(decision.choice.reason, Reason::clock);
}

TEST(Decide, FasterOneIsStopped_ReviewerChoosesAmongTheRest) {
  auto contestants = three();
  contestants[0].disqualified = true;
  const std::vector<CertainlyBetter> certain{{0, 1}, {0, 2}};
  const std::vector<PairResult> pairs{won(1, 2, Better::first), won(0, 1, Better::first)};
  const Decision decision = decide(contestants, certain, pairs, Weight::decides);
  EXPECT_EQ(decision.choice.chosen, 1U);
  EXPECT_EQ(decision.choice.reason, Reason::pairs);
}

TEST(Decide, Adviser_ChoosesByDiffAndKeepsWhatIsStopped) {
  auto contestants = three();
  contestants[0].disqualified = true;
  contestants[2].diff_lines = 4;
  const Decision decision = decide(contestants, {}, std::vector{won(1, 2, Better::first)}, Weight::advises);
  EXPECT_EQ(decision.choice.chosen, 2U);
  EXPECT_EQ(decision.choice.reason, Reason::smaller_diff);
  EXPECT_EQ(decision.advice.chosen, 1U);
  EXPECT_EQ(decision.advice.reason, Reason::pairs);
}

TEST(Decide, CycleOfPairs_RubricThenDiffThenIdentity) {
  const std::vector<PairResult> cycle{won(0, 1, Better::first), won(1, 2, Better::first), won(0, 2, Better::second)};
  auto contestants = three();
  contestants[1].rubric = 12;
  EXPECT_EQ(decide(contestants, {}, cycle, Weight::decides).choice.reason, Reason::rubric);
  EXPECT_EQ(decide(contestants, {}, cycle, Weight::decides).choice.chosen, 1U);
  contestants[1].rubric = 10;
  contestants[0].diff_lines = 3;
  EXPECT_EQ(decide(contestants, {}, cycle, Weight::decides).choice.chosen, 0U);
  EXPECT_EQ(decide(three(), {}, cycle, Weight::decides).choice.chosen, 2U);
  EXPECT_EQ(decide(three(), {}, cycle, Weight::decides).choice.reason, Reason::identity);
}

TEST(Decide, PairsWithOneBeatenByTheClock_DoNotCount) {
  // 2 loses to the clock: what the reviewer thinks of it moves nothing.
  const std::vector<CertainlyBetter> certain{{0, 2}};
  const std::vector<PairResult> pairs{won(0, 2, Better::second), won(0, 1, Better::first)};
  const Decision decision = decide(three(), certain, pairs, Weight::decides);
  EXPECT_EQ(decision.choice.chosen, 0U);
  EXPECT_EQ(decision.copeland, (std::vector{1, -1, 0}));
}

TEST(Decide, AllStopped_ChoosesNone) {
  auto contestants = three();
  for (Contestant& one : contestants) one.disqualified = true;
  const Decision decision = decide(contestants, {}, {}, Weight::decides);
  EXPECT_FALSE(decision.choice.chosen.has_value());
  EXPECT_EQ(decision.choice.reason, Reason::none);
}

TEST(Decide, ClockInACircle_AllStayOpen) {
  const std::vector<CertainlyBetter> circle{{0, 1}, {1, 2}, {2, 0}};
  EXPECT_EQ(decide(three(), circle, {}, Weight::decides).open.size(), 3U);
}

}  // namespace
}  // namespace accelopt::review
