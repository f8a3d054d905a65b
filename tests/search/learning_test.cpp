// SPDX-License-Identifier: Apache-2.0
#include "search/learning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

struct LearningTest : testing::Test {
  FakeIteration parts;
  const std::string run = "r1";
  std::vector<AttemptOutcome> outcomes;

  /// A child of the beam's first kernel, by its own plan, with this speed-up.
  AttemptOutcome& child(double speedup) {
    AttemptOutcome& outcome = outcomes.emplace_back();
    outcome.identity = {
        .iteration = 0, .parent = 0, .plan = static_cast<int>(outcomes.size()) - 1, .attempt = 0, .fix = 0};
    Candidate& candidate = outcome.candidate.emplace();
    candidate.identity = outcome.identity;
    candidate.kernel =
        model::Kernel(model::with_main_text(parts.task.baseline, "speed=" + std::to_string(speedup) + "\n"));
    candidate.plan.title = "plan " + std::to_string(outcomes.size());
    candidate.parent_source_id = parts.beam[0].kernel.id();
    candidate.evaluation = *parts.evaluator.triage(candidate.kernel.solution(), parts.task.baseline, {});
    return outcome;
  }
  base::Result<Lessons> learn(int known = 0) {
    return summarize_pairs({.task = parts.task,
                            .opened = parts.opened,
                            .settings = parts.settings,
                            .run = run,
                            .beam = parts.beam,
                            .asker = parts.asker,
                            .measurer = parts.measurer,
                            .events = parts.events,
                            .stops = parts.stops()},
                           outcomes, known);
  }
};

TEST_F(LearningTest, Improvement_BecomesAnExperience) {
  child(2.0).candidate->evaluation.workloads[0].ratio = model::Interval{2, 1.9, 2.1};
  const auto lessons = learn(4);
  ASSERT_TRUE(lessons) << lessons.error().message;
  ASSERT_EQ(lessons->experiences.size(), 1U);
  const model::Experience& it = lessons->experiences[0];
  EXPECT_EQ(it.id, "e5");
  EXPECT_EQ(it.title, "lesson of plan 1");
  EXPECT_EQ(it.polarity, model::Polarity::improves);
  EXPECT_DOUBLE_EQ(it.effect->estimate, 2.0);
  ASSERT_EQ(it.workloads.size(), 1U);
  EXPECT_EQ(it.workloads[0].workload, "small");
  EXPECT_EQ(it.slow, parts.beam[0].kernel.id());
  EXPECT_EQ(it.fast, outcomes[0].candidate->kernel.id());
  EXPECT_EQ(it.bound, "compute");
  EXPECT_EQ(it.device, "fake");
  EXPECT_EQ(it.run, "r1");
  EXPECT_EQ(it.model, "fake");
  EXPECT_NE(it.diff.find("+speed=2.0"), std::string::npos) << it.diff;
}

TEST_F(LearningTest, Regression_ShowsTheChildAsSlow) {
  child(0.5);
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  ASSERT_EQ(lessons->experiences.size(), 1U);
  EXPECT_EQ(lessons->experiences[0].polarity, model::Polarity::regresses);
  EXPECT_EQ(lessons->experiences[0].slow, outcomes[0].candidate->kernel.id());
  EXPECT_EQ(lessons->experiences[0].fast, parts.beam[0].kernel.id());
}

TEST_F(LearningTest, Mend_GoesByTheBrokenSolution) {
  AttemptOutcome& mended = child(1.0);
  mended.broken = mended.candidate;
  mended.broken->kernel = model::Kernel(model::with_main_text(parts.task.baseline, "wrong\n"));
  mended.broken->identity.fix = 0;
  mended.failed_fixes = {model::Status::timeout};
  mended.identity.fix = mended.candidate->identity.fix = 1;
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  ASSERT_EQ(lessons->experiences.size(), 1U);
  EXPECT_EQ(lessons->experiences[0].polarity, model::Polarity::mends);
  EXPECT_EQ(parts.team.summaries.at(0).context.identity.fix, 0);
  EXPECT_EQ(parts.team.summaries.at(0).failed_mends, mended.failed_fixes);
  EXPECT_EQ(model::main_text(parts.team.summaries.at(0).slow.solution()), "wrong\n");
}

TEST_F(LearningTest, MendOfATunedKernel_IsComparedAsItWasWritten) {
  const auto kernel = [&](const std::string& text) {
    return model::Kernel(model::with_main_text(parts.task.baseline, text));
  };
  AttemptOutcome& mended = child(1.0);
  mended.broken = mended.candidate;
  mended.broken->kernel = kernel("//@ tune A in {1, 2}\nwrong\n");
  mended.candidate->kernel = kernel("//@ tune A in {2}\nspeed=1\n");
  mended.candidate->open = kernel("//@ tune A in {1, 2}\nspeed=1\n");
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  ASSERT_EQ(lessons->experiences.size(), 1U);
  const model::Experience& it = lessons->experiences[0];
  EXPECT_EQ(it.fast, mended.candidate->kernel.id());
  EXPECT_EQ(it.diff.find("-//@"), std::string::npos) << it.diff;
  EXPECT_NE(it.diff.find("-wrong\n+speed=1\n"), std::string::npos) << it.diff;
}

TEST_F(LearningTest, Question_HoldsTheChildsProfile) {
  child(2.0);
  ASSERT_TRUE(learn());
  const agents::SummarizeQuestion& question = parts.team.summaries.at(0);
  ASSERT_TRUE(question.fast_evaluation.profile);
  EXPECT_DOUBLE_EQ(question.fast_evaluation.profile->items.at(0).value, 2.0);
  EXPECT_FALSE(question.slow_evaluation.profile);
}

TEST_F(LearningTest, SummarizerWithoutNeedOfProfiles_NoneIsMeasured) {
  parts.team.summarizer_reads_profiles = false;
  child(2.0);
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  EXPECT_EQ(lessons->experiences.size(), 1U);
  EXPECT_FALSE(parts.team.summaries.at(0).fast_evaluation.profile);
  EXPECT_EQ(parts.evaluator.profiles, 0);
}

TEST_F(LearningTest, NothingSeen_IsCountedAndNoted) {
  child(2.0);
  parts.team.on_summarize = [](const auto&) -> FakeTeam::LessonResult {
    return answered(std::optional<agents::Lesson>());
  };
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  EXPECT_TRUE(lessons->experiences.empty());
  EXPECT_EQ(lessons->none, 1);
  ASSERT_EQ(parts.events.texts.size(), 1U);
  EXPECT_NE(parts.events.texts[0].find("\"plan 1\""), std::string::npos) << parts.events.texts[0];
}

TEST_F(LearningTest, LostAnswer_IsCountedAndNoted) {
  child(2.0);
  child(3.0);
  parts.team.on_summarize = [](const agents::SummarizeQuestion& question) -> FakeTeam::LessonResult {
    if (question.plan.title == "plan 2") return base::fail(ErrorCode::timed_out, "no answer came");
    return answered(std::optional(agents::Lesson{"t", "s", "", ""}));
  };
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  EXPECT_EQ(lessons->asked, 2);
  EXPECT_EQ(lessons->lost, 1);
  ASSERT_EQ(lessons->experiences.size(), 1U);
  EXPECT_EQ(lessons->experiences[0].id, "e1") << "ids have no gaps";
  ASSERT_EQ(parts.events.texts.size(), 1U);
  EXPECT_NE(parts.events.texts[0].find("no answer came"), std::string::npos);
}

TEST_F(LearningTest, SummarizerError_EndsTheRun) {
  child(2.0);
  parts.team.on_summarize = [](const auto&) -> FakeTeam::LessonResult {
    return base::fail(ErrorCode::unauthenticated, "check the key");
  };
  const auto lessons = learn();
  ASSERT_FALSE(lessons);
  EXPECT_EQ(lessons.error().code, ErrorCode::unauthenticated);
}

TEST_F(LearningTest, EndedBudget_TeachesNothing) {
  child(2.0);
  parts.budget.end(model::EndReason::stop);
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  EXPECT_EQ(lessons->asked, 0);
  EXPECT_TRUE(lessons->experiences.empty());
  EXPECT_TRUE(parts.team.summaries.empty());
}

TEST_F(LearningTest, AskingTogether_IsOneStepAParent) {
  parts.settings.asking = Asking::together;
  child(2.0);
  child(3.0);
  child(0.5);
  const auto lessons = learn();
  ASSERT_TRUE(lessons) << lessons.error().message;
  EXPECT_EQ(lessons->experiences.size(), 3U);
  EXPECT_EQ(lessons->experiences[0].title, "lesson of plan 2") << "greatest effect first";
  const auto steps = parts.journal->steps("r1");
  ASSERT_TRUE(steps);
  EXPECT_EQ(std::ranges::count(*steps, "summarize_all", [](const auto& step) { return step.key.kind; }), 1);
  EXPECT_EQ(std::ranges::count(*steps, "summarize", [](const auto& step) { return step.key.kind; }), 0);
}

}  // namespace
}  // namespace accelopt::search
