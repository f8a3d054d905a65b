// SPDX-License-Identifier: Apache-2.0
#include "search/exploration.hpp"

#include <gtest/gtest.h>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

using Outcomes = base::Result<std::vector<AttemptOutcome>>;

struct ExplorationTest : testing::Test {
  FakeIteration parts;
  TriedPlans tried;
  Ties ties;
  evaluation::KnownEvaluations known_sources;
  Schedule schedule = Schedule::pipeline;
  base::ThreadCache threads;

  Outcomes explore() {
    const std::vector<memory::Queue> memory(parts.beam.size());
    const std::vector<agents::Lineage> lineages(parts.beam.size());
    return search::explore({.task = parts.task,
                            .opened = parts.opened,
                            .settings = parts.settings,
                            .beam = parts.beam,
                            .memory = memory,
                            .tried = tried,
                            .lineages = lineages,
                            .ties = ties,
                            .known_sources = known_sources,
                            .known_machine_code = {},
                            .asker = parts.asker,
                            .measurer = parts.measurer,
                            .budget = parts.budget,
                            .events = parts.events,
                            .stops = parts.stops(),
                            .schedule = schedule,
                            .flow = {},
                            .threads = threads});
  }
  void add_to_beam(const std::string& text) {
    Candidate candidate = parts.baseline();
    candidate.kernel = model::Kernel(model::with_main_text(candidate.kernel.solution(), text));
    candidate.machine_code_id = text;
    parts.beam.push_back(candidate);
  }
};

TEST_F(ExplorationTest, EverySchedule_GivesOutcomesByIdentity) {
  for (const Schedule each : {Schedule::pipeline, Schedule::stages, Schedule::serial}) {
    schedule = each;
    parts.settings.plans = 2;
    parts.settings.attempts = 2;
    add_to_beam("speed=2\n");
    parts.team.on_execute = [](const auto& question) { return "speed=3 " + to_string(question.context.identity); };
    const Outcomes outcomes = explore();
    ASSERT_TRUE(outcomes) << outcomes.error().message;
    std::size_t at = 0;
    for (int parent = 0; parent < static_cast<int>(parts.beam.size()); ++parent) {
      for (const int plan : {0, 1}) {
        for (const int attempt : {0, 1}) {
          const AttemptOutcome& outcome = outcomes->at(at++);
          EXPECT_EQ(outcome.identity, (model::Identity{0, parent, plan, attempt, 0}));
          EXPECT_EQ(outcome.parent, parent);
          EXPECT_EQ(outcome.candidate->evaluation.status, model::Status::passed);
        }
      }
    }
    EXPECT_EQ(at, outcomes->size());
  }
}

TEST_F(ExplorationTest, EqualAnswers_AreMeasuredOnce) {
  parts.settings.attempts = 4;
  parts.team.on_execute = [](const auto&) { return "speed=3\n"; };
  const Outcomes outcomes = explore();
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  ASSERT_EQ(outcomes->size(), 4U);
  for (const AttemptOutcome& outcome : *outcomes) {
    EXPECT_EQ(outcome.duplicate, outcome.identity.attempt > 0);
    EXPECT_DOUBLE_EQ(outcome.candidate->evaluation.ratio->estimate, 3.0);
  }
  EXPECT_EQ(parts.evaluator.builds, 1);
  EXPECT_EQ(parts.evaluator.triages, 1);
}

TEST_F(ExplorationTest, KnownSource_IsNotBuiltAgain) {
  parts.team.on_execute = [](const auto&) { return "speed=3\n"; };
  ASSERT_TRUE(explore());
  const auto source = model::source_id(model::with_main_text(parts.task.baseline, "speed=3\n"));
  model::Evaluation known;
  known.status = model::Status::timeout;
  known_sources[source] = std::make_shared<model::Evaluation>(known);
  const Outcomes again = explore();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->at(0).duplicate);
  EXPECT_EQ(again->at(0).candidate->evaluation.status, model::Status::timeout);
  EXPECT_EQ(parts.evaluator.builds, 1);
}

TEST_F(ExplorationTest, LostPlan_LosesItsAttempts) {
  parts.settings.plans = 2;
  parts.settings.attempts = 2;
  parts.team.on_plan = [](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    if (question.context.identity.plan == 1) return answered(model::Plan{"good", {}, ""});
    return agents::Answer<model::Plan>{{}, "no idea", "", "", "", {}};
  };
  const Outcomes outcomes = explore();
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  ASSERT_EQ(outcomes->size(), 4U);
  for (const AttemptOutcome& outcome : *outcomes) {
    const bool lost = outcome.identity.plan == 0;
    EXPECT_EQ(outcome.candidate.has_value(), !lost);
    EXPECT_EQ(outcome.note, lost ? "no plan: no idea" : "");
  }
}

TEST_F(ExplorationTest, PlannerError_EndsTheRun) {
  parts.settings.plans = 2;
  parts.team.on_plan = [](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    if (question.context.identity.plan == 0) return answered(model::Plan{"good", {}, ""});
    return base::fail(ErrorCode::unauthenticated, "check the key");
  };
  const Outcomes outcomes = explore();
  ASSERT_FALSE(outcomes);
  EXPECT_EQ(outcomes.error().code, ErrorCode::unauthenticated);
}

TEST_F(ExplorationTest, EndingRun_AsksNothingNew) {
  parts.settings.plans = 3;
  parts.wind_down.request_stop();
  const Outcomes outcomes = explore();
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  ASSERT_EQ(outcomes->size(), 3U);
  for (const AttemptOutcome& outcome : *outcomes) EXPECT_FALSE(outcome.candidate);
  EXPECT_TRUE(parts.team.plans.empty());
}

TEST_F(ExplorationTest, Question_HoldsWhatWasTried) {
  tried[parts.beam[0].kernel.id()] = {{"Unroll", "0.97x"}};
  ASSERT_TRUE(explore());
  const agents::PlanQuestion& question = parts.team.plans.at(0);
  ASSERT_EQ(question.tried.size(), 1U);
  EXPECT_EQ(question.tried[0].outcome, "0.97x");
  EXPECT_EQ(question.context.device, "fake device, 1 core");
  ASSERT_TRUE(question.evaluation.profile);
  EXPECT_EQ(question.evaluation.profile->items.at(0).name, "speed");
}

TEST(OutcomeText, EachOutcome_ReadsAsListed) {
  AttemptOutcome outcome;
  EXPECT_EQ(outcome_text(outcome), "no answer");
  outcome.note = "no plan: no idea";
  EXPECT_EQ(outcome_text(outcome), "no plan: no idea");
  outcome.candidate.emplace();
  model::Evaluation& evaluation = outcome.candidate->evaluation;
  evaluation.status = model::Status::incorrect_numerical;
  EXPECT_EQ(outcome_text(outcome), "INCORRECT_NUMERICAL");
  evaluation.status = model::Status::passed;
  EXPECT_EQ(outcome_text(outcome), "passed, not raced");
  evaluation.ratio = model::Interval{2.314, 2.2, 2.4};
  EXPECT_EQ(outcome_text(outcome), "2.31x");
  outcome.duplicate = true;
  EXPECT_EQ(outcome_text(outcome), "2.31x (known already)");
  evaluation.ratio.reset();
  EXPECT_EQ(outcome_text(outcome), "known already, not raced against this kernel");
}

}  // namespace
}  // namespace accelopt::search
