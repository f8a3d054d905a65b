// SPDX-License-Identifier: Apache-2.0
#include "search/selection.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace accelopt::search {
namespace {

using model::Polarity;
using model::Status;

constexpr double kBaselineNs = 1000;

/// An attempt of (parent, plan, attempt) with this speed-up over its parent; 0: it failed.
AttemptOutcome attempt(int parent, int plan, int number, double ratio) {
  AttemptOutcome outcome;
  outcome.identity = {.iteration = 0, .parent = parent, .plan = plan, .attempt = number, .fix = 0};
  outcome.parent = parent;
  Candidate candidate;
  candidate.identity = outcome.identity;
  candidate.evaluation.status = ratio > 0 ? Status::passed : Status::runtime_error;
  if (ratio > 0) {
    candidate.evaluation.ratio = model::Interval{ratio, ratio * 0.995, ratio * 1.005};
    candidate.evaluation.verdict = ratio > 1.005 ? model::Verdict::faster : model::Verdict::slower;
    model::WorkloadTiming timing;
    timing.role = model::Role::race;
    timing.time_ns = kBaselineNs / ratio;
    candidate.evaluation.workloads = {timing};
  }
  outcome.candidate = candidate;
  return outcome;
}

TEST(Representatives, TakesTheFastestOfABranchIfAnyIsFasterElseTheSlowest) {
  const std::vector outcomes{attempt(0, 0, 0, 0.5), attempt(0, 0, 1, 1.2), attempt(0, 0, 2, 1.5),
                             attempt(0, 1, 0, 0.9), attempt(0, 1, 1, 0.4), attempt(0, 2, 0, 0)};
  EXPECT_EQ(representatives(outcomes), (std::vector<std::size_t>{2, 4}));
}

TEST(Representatives, SettlesTiesByIdentityAndLeavesDuplicatesOut) {
  std::vector outcomes{attempt(0, 0, 0, 1.5), attempt(0, 0, 1, 1.5), attempt(0, 1, 0, 2.0)};
  outcomes[2].duplicate = true;
  EXPECT_EQ(representatives(outcomes), (std::vector<std::size_t>{0}));
}

TEST(TeachingPairs, TakesImprovementsByEffectThenFillsWithRegressions) {
  SearchSettings settings;
  settings.memory_new = 4;
  const std::vector outcomes{attempt(0, 0, 0, 1.10), attempt(0, 1, 0, 1.50), attempt(0, 2, 0, 1.30),
                             attempt(0, 3, 0, 0.50), attempt(0, 4, 0, 0.20), attempt(0, 5, 0, 0.95)};
  const auto pairs = teaching_pairs(outcomes, {0, 1, 2, 3, 4, 5}, settings);
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[0].outcome, 1U);
  EXPECT_EQ(pairs[1].outcome, 2U);  // at most memory_new / 2 improvements
  EXPECT_EQ(pairs[2].outcome, 4U);  // worst first
  EXPECT_EQ(pairs[2].polarity, Polarity::regresses);
  EXPECT_EQ(pairs[3].outcome, 3U);
}

TEST(TeachingPairs, OffersMendedFailuresWhereAPlaceIsLeft) {
  SearchSettings settings;
  settings.memory_new = 3;
  std::vector outcomes{attempt(0, 0, 0, 1.0), attempt(0, 1, 0, 1.5), attempt(0, 2, 0, 1.0), attempt(0, 3, 0, 1.0)};
  for (const std::size_t i : {0U, 2U, 3U}) outcomes[i].broken = outcomes[i].candidate;
  const auto pairs = teaching_pairs(outcomes, {0, 1, 2, 3}, settings);
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].polarity, Polarity::improves);
  EXPECT_EQ(pairs[1].outcome, 0U);
  EXPECT_EQ(pairs[1].polarity, Polarity::mends);
  EXPECT_EQ(pairs[2].outcome, 2U);
}

TEST(TeachingPairs, EverythingTeachesWhereItIsWanted) {
  SearchSettings settings;
  settings.memory_new = 1;
  settings.memory_everything = true;
  std::vector outcomes{attempt(0, 0, 0, 1.5), attempt(0, 1, 0, 1.3), attempt(0, 2, 0, 0.99),
                       attempt(0, 3, 0, 1.0), attempt(0, 4, 0, 2.0), attempt(0, 5, 0, 0)};
  for (const std::size_t i : {3U, 4U}) {
    outcomes[i].duplicate = true;
    outcomes[i].candidate->parent_source_id = "parent";
  }
  outcomes[3].candidate->evaluation.duplicate_of = "parent";
  outcomes[4].candidate->evaluation.duplicate_of = "another";  // its ratio is another parent's
  outcomes[1].broken = outcomes[1].candidate;
  const auto pairs = teaching_pairs(outcomes, representatives(outcomes), settings);
  ASSERT_EQ(pairs.size(), 5U);
  EXPECT_EQ(pairs[4].outcome, 1U);
  EXPECT_EQ(pairs[4].polarity, Polarity::mends);
  EXPECT_EQ(pairs[0].polarity, Polarity::improves);
  EXPECT_EQ(pairs[2].outcome, 2U);
  EXPECT_EQ(pairs[2].polarity, Polarity::regresses);
  EXPECT_EQ(pairs[3].outcome, 3U);
  EXPECT_EQ(pairs[3].polarity, Polarity::regresses);
}

TEST(TeachingPairs, StandardRulesAskForCertaintyPaperRulesDoNot) {
  SearchSettings settings;
  std::vector outcomes{attempt(0, 0, 0, 1.06)};
  outcomes[0].candidate->evaluation.ratio->low = 0.99;
  EXPECT_TRUE(teaching_pairs(outcomes, {0}, settings).empty());
  const auto paper = *preset("paper");
  EXPECT_EQ(teaching_pairs(outcomes, {0}, paper).size(), 1U);
}

Entrant parent(std::size_t arm, double score) {
  return {arm, {.iteration = -1, .parent = static_cast<int>(arm)}, score, -1, 0};
}
Entrant child(std::size_t arm, int of, double score, double parent_score) {
  return {arm, {.iteration = 0, .parent = of, .plan = static_cast<int>(arm)}, score, of, parent_score};
}

TEST(FillBeam, SortsParentsAndFasterChildrenByScore) {
  EXPECT_EQ(fill_beam({parent(0, 1.0), child(1, 0, 2.0, 1.0), child(2, 0, 0.8, 1.0), child(3, 0, 1.5, 1.0)}, 3),
            (std::vector<std::size_t>{1, 3, 0}));
}

TEST(FillBeam, GivesEachParentsBestChildAPlaceBeforeASecondOfAnother) {
  // Parent 0 has the three fastest children, parent 1 a slower one that beats it.
  const std::vector entrants{parent(0, 2.0),        parent(1, 1.0),        child(2, 0, 5.0, 2.0),
                             child(3, 0, 4.9, 2.0), child(4, 0, 4.8, 2.0), child(5, 1, 1.5, 1.0)};
  EXPECT_EQ(fill_beam(entrants, 3), (std::vector<std::size_t>{2, 0, 5}));
}

TEST(FillBeam, LeavesFreePlacesEmptyAndSettlesTiesByIdentity) {
  EXPECT_EQ(fill_beam({parent(0, 1.0)}, 3), (std::vector<std::size_t>{0}));
  EXPECT_EQ(fill_beam({parent(0, 1.0), child(2, 0, 2.0, 1.0), child(1, 0, 2.0, 1.0)}, 2),
            (std::vector<std::size_t>{1, 2}));
}

TEST(FillBeamAsPublished, SlowerChildrenReplaceTheirParent) {
  const auto beam = fill_beam_as_published({attempt(0, 0, 0, 0.5), attempt(0, 1, 0, 0.8)}, 2);
  ASSERT_EQ(beam.size(), 2U);
  EXPECT_EQ(beam[0].outcome, 1U);
  EXPECT_DOUBLE_EQ(beam[0].latency_ns, kBaselineNs / 0.8);
  EXPECT_EQ(beam[1].outcome, 0U);
}

TEST(FillBeamAsPublished, WhenEverythingFailedTheBeamIsCopiesOfTheFirstParent) {
  const auto beam = fill_beam_as_published(
      {attempt(0, 0, 0, 0), attempt(0, 1, 0, 0), attempt(0, 2, 0, 0), attempt(1, 0, 0, 0), attempt(1, 1, 0, 0)}, 3);
  ASSERT_EQ(beam.size(), 3U);
  for (const PaperEntrant& entrant : beam) {
    EXPECT_TRUE(entrant.is_parent_code);
    EXPECT_EQ(entrant.parent, 0);
  }
}

TEST(FillBeamAsPublished, ABranchIsRepresentedByItsAttemptOfLeastLatency) {
  const auto beam = fill_beam_as_published({attempt(0, 0, 0, 0), attempt(0, 0, 1, 1.5), attempt(0, 0, 2, 1.2)}, 6);
  ASSERT_EQ(beam.size(), 1U);
  EXPECT_EQ(beam[0].outcome, 1U);
}

TEST(FillBeamAsPublished, WhatWasRacedAgainstAnotherParentCountsByItsTimes) {
  std::vector outcomes{attempt(0, 0, 0, 0.5), attempt(0, 1, 0, 2), attempt(0, 2, 0, 0)};
  for (const std::size_t i : {1U, 2U}) {
    outcomes[i].duplicate = true;
    outcomes[i].candidate->evaluation.ratio.reset();
    outcomes[i].candidate->evaluation.opponent = "another";
  }
  const auto beam = fill_beam_as_published(outcomes, 3);
  ASSERT_EQ(beam.size(), 3U);
  EXPECT_EQ(beam[0].outcome, 1U);
  EXPECT_DOUBLE_EQ(beam[0].latency_ns, kBaselineNs / 2);
  EXPECT_TRUE(beam[2].is_parent_code);
}

TEST(KeptForPlayoff, KeepsFasterAndProbablyFaster) {
  model::Evaluation evaluation;
  evaluation.status = Status::passed;
  evaluation.ratio = model::Interval{1.01, 0.99, 1.03};
  evaluation.verdict = model::Verdict::undecided;
  EXPECT_TRUE(evaluation::kept_for_playoff(evaluation));
  evaluation.decided_by = model::DecidedBy::futility;
  EXPECT_FALSE(evaluation::kept_for_playoff(evaluation));
  evaluation.decided_by = model::DecidedBy::cap;
  evaluation.ratio->estimate = 0.999;
  EXPECT_FALSE(evaluation::kept_for_playoff(evaluation));
  evaluation.verdict = model::Verdict::faster;
  EXPECT_TRUE(evaluation::kept_for_playoff(evaluation));
  evaluation.verdict = model::Verdict::tie;
  EXPECT_FALSE(evaluation::kept_for_playoff(evaluation));
}

}  // namespace
}  // namespace accelopt::search
