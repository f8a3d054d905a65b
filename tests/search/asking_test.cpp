// SPDX-License-Identifier: Apache-2.0
// Several plans from one question, several lessons from one, and what questions tell of where kernels come from.
#include <gtest/gtest.h>

#include <algorithm>

#include "search/fake_run.hpp"

namespace accelopt::search {
namespace {

struct TogetherRun : FakeRun {
  TogetherRun() {
    request.settings.asking = Asking::together;
    team.on_execute = double_or_halve;
  }
  /// Recorded steps of a kind.
  std::ptrdiff_t steps(const std::string& kind) const {
    const auto all = journal->steps("r1");
    EXPECT_TRUE(all);
    return std::ranges::count(*all, kind, [](const journal::StepRecord& step) { return step.key.kind; });
  }
};

TEST(Asking, TogetherIsOneQuestionAKernelForPlansAndOneForLessons) {
  TogetherRun run;
  run.request.settings.iterations = 3;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.steps("plan"), 0);
  EXPECT_EQ(run.steps("plans"), 1 + 2 + 3) << "of beams of 1, 2 and 3";
  EXPECT_EQ(run.team.executions.size(), 2U * (1 + 2 + 3)) << "N plans of each";
  EXPECT_EQ(run.steps("summarize"), 0);
  EXPECT_EQ(run.steps("summarize_all"), 1 + 1)
      << "children of the baseline are known in the second round, and nothing uses the last one's";
  EXPECT_DOUBLE_EQ(report->result.confirmation->ratio->estimate, 8.0);
}

TEST(Asking, TogetherDecidesInAReplayAsInTheRun) {
  for (const Schedule schedule : {Schedule::pipeline, Schedule::stages, Schedule::serial}) {
    TogetherRun run;
    run.request.schedule = schedule;
    const auto original = run.go();
    ASSERT_TRUE(original) << original.error().message;

    run.request.missing = Missing::leave_it;
    const auto replayed = run.go();

    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_EQ(replayed->result.decision_hash, original->result.decision_hash);
    EXPECT_EQ(replayed->steps_absent, 0);
  }
}

TEST(Asking, FewerPlansThanAskedForLoseTheOtherAttempts) {
  TogetherRun run;
  run.request.settings.iterations = 1;
  run.request.settings.attempts = 2;
  run.team.on_plan = [](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    if (question.context.identity.plan == 0) return answered(model::Plan{"the only one", {}, "do it"});
    agents::Answer<model::Plan> lost;
    lost.lost = "no idea";
    return lost;
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.team.executions.size(), 2U);
  EXPECT_EQ(report->result.counts.at("NO_ANSWER"), 2);
  EXPECT_EQ(report->result.plans, 1);
}

TEST(Asking, AnErrorOfThePlannerEndsTheRun) {
  TogetherRun run;
  run.team.on_plan = [](const agents::PlanQuestion&) -> FakeTeam::PlanResult {
    return base::fail(ErrorCode::unauthenticated, "check the key");
  };
  const auto report = run.go();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::unauthenticated);
}

TEST(Asking, ThePlannerIsToldWhereAKernelComesFrom) {
  TogetherRun run;

  ASSERT_TRUE(run.go());

  bool seen = false;
  for (const agents::PlanQuestion& question : run.team.plans) {
    const agents::Lineage& lineage = question.lineage;
    if (model::main_text(question.kernel.solution()) == "speed=1\n") {
      EXPECT_TRUE(lineage.steps.empty() && lineage.standing.empty());
      continue;
    }
    seen = true;
    EXPECT_EQ(lineage.standing, "2.00x");
    ASSERT_EQ(lineage.steps.size(), 1U);
    EXPECT_EQ(lineage.steps[0].title, "plan i0.b0.p0");
    EXPECT_EQ(lineage.steps[0].outcome, "2.00x");
    ASSERT_EQ(lineage.siblings.size(), 1U);
    EXPECT_EQ(lineage.siblings[0].title, "plan i0.b0.p1");
    EXPECT_EQ(lineage.siblings[0].outcome, "0.50x");
    ASSERT_EQ(lineage.beam.size(), 1U);
    EXPECT_EQ(lineage.beam[0].title, "the baseline");
  }
  EXPECT_TRUE(seen);
}

/// Plan 0 changes nearly nothing, plan 1 a little more; both are ties.
std::string nothing_gained(const agents::ExecuteQuestion& question) {
  const model::Identity& identity = question.context.identity;
  return "speed=" + std::string(identity.plan == 0 ? "0.999" : "0.996") + " of iteration " +
         std::to_string(identity.iteration) + "\n";
}

TEST(Asking, TheBestTieOfAKernelIsProfiledForTheNextPlanner) {
  TogetherRun run;
  run.request.settings.iterations = 3;
  run.request.settings.beam = 1;
  run.request.settings.patience = 0;
  run.team.on_execute = nothing_gained;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.evaluator.profiles, 1 + 2) << "the baseline, and the best tie of each round but the last";
  int told = 0;
  for (const agents::PlanQuestion& question : run.team.plans) {
    const int iteration = question.context.identity.iteration;
    ASSERT_EQ(question.tie.has_value(), iteration > 0);
    if (!question.tie) continue;
    ++told;
    EXPECT_EQ(question.tie->plan.title, "plan i" + std::to_string(iteration - 1) + ".b0.p0");
    EXPECT_EQ(question.tie->before.items.at(0).value, 1);
    EXPECT_EQ(question.tie->after.items.at(0).value, 0.999);
  }
  EXPECT_GT(told, 0);

  run.request.missing = Missing::leave_it;
  const auto replayed = run.go();
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->result.decision_hash, report->result.decision_hash);
  EXPECT_EQ(replayed->steps_absent, 0);
}

TEST(Asking, ARunWithoutModelsProfilesNoTies) {
  TogetherRun run;
  run.request.settings.asking = Asking::apart;
  run.request.settings.beam = 1;
  run.request.settings.patience = 0;
  run.request.settings.memory_new = 0;
  run.team.on_execute = nothing_gained;

  ASSERT_TRUE(run.go());

  EXPECT_EQ(run.evaluator.profiles, 1);
}

TEST(Asking, ExecutorAndFixerAreToldOfABetterKernelThanTheParent) {
  TogetherRun run;
  run.request.settings.fixes = 1;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    const bool second = question.context.identity.iteration > 0;
    return (second ? "compile_error\n" : "") + double_or_halve(question);
  };
  run.team.on_fix = [](const agents::FixQuestion&) { return "speed=3\n"; };

  ASSERT_TRUE(run.go());

  int told = 0;
  for (const agents::ExecuteQuestion& question : run.team.executions) {
    const bool parent_is_best = model::main_text(question.kernel.solution()) == "speed=2.000000\n";
    const bool first = question.context.identity.iteration == 0;
    ASSERT_EQ(question.better.has_value(), !first && !parent_is_best);
    if (!question.better) continue;
    ++told;
    EXPECT_EQ(model::main_text(question.better->kernel.solution()), "speed=2.000000\n");
    EXPECT_DOUBLE_EQ(question.better->speedup, 2.0);
  }
  EXPECT_GT(told, 0);
  for (const agents::FixQuestion& question : run.team.fixes)
    EXPECT_EQ(question.better.has_value(), model::main_text(question.parent.solution()) == "speed=1\n");
  EXPECT_FALSE(run.team.fixes.empty());
}

TEST(Asking, TheSecondFixIsToldOfTheFirst) {
  TogetherRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 1;
  run.request.settings.fixes = 2;
  run.team.on_execute = [](const auto&) { return "compile_error speed=3\n"; };
  run.team.on_fix = [](const agents::FixQuestion& question) {
    return question.context.identity.fix == 1 ? "crash speed=3\n" : "speed=3\n";
  };

  ASSERT_TRUE(run.go());

  ASSERT_EQ(run.team.fixes.size(), 2U);
  EXPECT_TRUE(run.team.fixes[0].earlier.empty());
  ASSERT_EQ(run.team.fixes[1].earlier.size(), 1U);
  EXPECT_EQ(model::main_text(run.team.fixes[1].earlier[0].kernel.solution()), "compile_error speed=3\n");
  EXPECT_EQ(run.team.fixes[1].earlier[0].status, model::Status::compile_error);
  EXPECT_EQ(run.team.fixes[1].earlier[0].diagnostics, "line 1: compile_error");
}

TEST(Asking, LessonsAreKeptAsWrittenExceptInARunOfBefore) {
  for (const Asking asking : {Asking::together, Asking::apart, Asking::apart_renamed}) {
    TogetherRun run;
    run.request.settings.asking = asking;
    run.request.task.definition.axes = {{"key", std::nullopt}};
    run.request.task.workloads[0].axes = {{"key", 8}};
    run.team.on_summarize = [](const agents::SummarizeQuestion&) -> FakeTeam::LessonResult {
      return answered(std::optional(agents::Lesson{"t", "s", "for key tiles", "for key"}));
    };
    ASSERT_TRUE(run.go());
    const bool renamed = asking == Asking::apart_renamed;
    bool seen = false;
    for (const agents::PlanQuestion& question : run.team.plans) {
      for (const model::Experience& experience : question.memory) {
        seen = true;
        EXPECT_EQ(experience.before, renamed ? "for n0 tiles" : "for key tiles");
      }
    }
    EXPECT_TRUE(seen);
  }
}

TEST(Asking, AJournalFromBeforeThereWasAChoiceKeepsItsForm) {
  base::Json old = SearchSettings{};
  EXPECT_EQ(old.at("asking"), "apart");
  old.erase("asking");
  const auto settings = old.get<SearchSettings>();
  EXPECT_EQ(settings.asking, Asking::apart_renamed);
  EXPECT_EQ(base::Json(settings), old) << "steps are found by what their settings were";
}

TEST(Asking, NoAnswerIsAskedForThatCouldNotBeEvaluated) {
  for (const bool some_known : {false, true}) {
    FakeRun run;
    run.request.schedule = some_known ? Schedule::serial : Schedule::pipeline;
    run.request.settings.iterations = 1;
    run.request.settings.attempts = 4;
    run.request.settings.max_evaluations = 1;
    run.team.on_execute = [some_known](const agents::ExecuteQuestion& question) {
      const auto& id = question.context.identity;
      if (some_known && id.attempt < 2) return model::main_text(question.kernel.solution());
      return "speed=" + std::to_string(2 + id.plan + 0.1 * id.attempt) + "\n";
    };

    const auto report = run.go();

    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(run.team.executions.size(), some_known ? 3U : 1U) << "the parent's own program needs no evaluation";
    EXPECT_EQ(report->result.evaluations, 1);
    EXPECT_EQ(report->result.stopped_by, model::EndReason::max_evaluations);
  }
}

}  // namespace
}  // namespace accelopt::search
