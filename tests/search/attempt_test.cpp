// SPDX-License-Identifier: Apache-2.0
#include "search/attempt.hpp"

#include <gtest/gtest.h>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

using model::Status;

/// One attempt at one plan for the baseline.
struct AttemptTest : testing::Test {
  FakeIteration parts;
  FirstAnswers first_answers;
  Flow flow{Schedule::pipeline, {}, 1};
  evaluation::KnownEvaluations known_sources, known_machine_code;
  int fixes = 2;

  base::Result<AttemptOutcome> run() { return run_with(parts.measurer); }

  base::Result<AttemptOutcome> run_with(Measurer& measurer) {
    const Candidate parent = parts.baseline();
    AttemptShared shared{.task = parts.task,
                         .best = parts.beam.front(),
                         .asker = parts.asker,
                         .measurer = measurer,
                         .budget = parts.budget,
                         .events = parts.events,
                         .first_answers = first_answers,
                         .flow = flow,
                         .known_sources = known_sources,
                         .known_machine_code = known_machine_code,
                         .attempts = 1,
                         .fixes = fixes,
                         .stops = parts.stops()};
    Flow::Seat seat(flow);
    agents::Context context;
    context.identity = {.iteration = 0, .parent = 0, .plan = 0, .attempt = 0};
    return run_attempt(shared, seat, context, parent, {"a plan", {}, ""});
  }
};

TEST_F(AttemptTest, GoodAnswer_NeedsNoFix) {
  parts.team.on_execute = [](const auto&) { return "speed=3\n"; };
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->candidate->evaluation.status, Status::passed);
  EXPECT_EQ(outcome->candidate->plan.title, "a plan");
  EXPECT_FALSE(outcome->broken);
  EXPECT_TRUE(parts.team.fixes.empty());
}

TEST_F(AttemptTest, BrokenBuild_IsMendedWithItsDiagnostics) {
  parts.team.on_execute = [](const auto&) { return "compile_error\n"; };
  parts.team.on_fix = [](const auto&) { return "speed=2\n"; };
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->candidate->evaluation.status, Status::passed);
  EXPECT_EQ(outcome->candidate->identity.fix, 1);
  EXPECT_EQ(outcome->broken->evaluation.status, Status::compile_error);
  ASSERT_EQ(parts.team.fixes.size(), 1U);
  EXPECT_EQ(parts.team.fixes[0].status, Status::compile_error);
  EXPECT_EQ(parts.evaluator.triages, 1) << "what does not build is not raced";
}

TEST_F(AttemptTest, SecondFixWorks_TeachesWhatThePlansFileDid) {
  parts.team.on_execute = [](const auto&) { return "wrong\n"; };
  parts.team.on_fix = [](const agents::FixQuestion& question) {
    return question.earlier.empty() ? "compile_error\n" : "speed=2\n";
  };
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->candidate->evaluation.status, Status::passed);
  ASSERT_TRUE(outcome->broken);
  EXPECT_EQ(outcome->broken->evaluation.status, Status::incorrect_numerical);
  EXPECT_EQ(outcome->broken->identity.fix, 0);
  EXPECT_EQ(outcome->failed_fixes, std::vector{Status::compile_error});
}

TEST_F(AttemptTest, EveryFixFails_KeepsTheLast) {
  int number = 0;
  parts.team.on_execute = [](const auto&) { return "wrong\n"; };
  parts.team.on_fix = [&](const auto&) { return "wrong " + std::to_string(++number) + "\n"; };
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(number, fixes);
  EXPECT_EQ(outcome->candidate->evaluation.status, Status::incorrect_numerical);
  EXPECT_EQ(outcome->candidate->identity.fix, fixes);
  EXPECT_EQ(outcome->first_failure->identity.fix, 0);
}

TEST_F(AttemptTest, FailedSolutionAgain_EndsTheFixes) {
  parts.team.on_execute = [](const auto&) { return "wrong\n"; };
  parts.team.on_fix = [](const auto&) { return "wrong\n"; };
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->note, "the fix is a solution that has failed already");
  EXPECT_EQ(parts.team.fixes.size(), 1U);
}

TEST_F(AttemptTest, EndedRun_GivesNoCandidate) {
  parts.wind_down.request_stop();
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->candidate);
  EXPECT_EQ(parts.evaluator.builds, 0);
}

TEST_F(AttemptTest, BrokenDevice_EndsTheRun) {
  struct Dead : FakeEvaluator {
    base::Result<model::BuildReport> build(const model::Solution&, std::stop_token) override {
      return base::fail(ErrorCode::unavailable, "the worker died");
    }
  } dead;
  parts.team.on_execute = [](const auto&) { return "speed=3\n"; };
  Measurer measurer(&dead, parts.recorder, parts.task, parts.measure);
  ASSERT_TRUE(measurer.open({}));
  const auto outcome = run_with(measurer);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
}

TEST(FirstAnswersTest, EarlierEqualAnswer_IsFound) {
  FirstAnswers answers;
  const model::Identity first{0, 0, 0, 0, -1};
  const model::Identity second{0, 0, 0, 1, -1};
  const model::Identity of_another_parent{0, 1, 0, 0, -1};
  answers.announce(first, "a");
  answers.announce(of_another_parent, "b");
  const std::chrono::milliseconds at_once{0};
  EXPECT_TRUE(answers.given_before(second, "a", 1, at_once));
  EXPECT_FALSE(answers.given_before(second, "b", 1, at_once));
  EXPECT_FALSE(answers.given_before(first, "a", 0, at_once)) << "its own answer is no earlier one";
}

/// Gives no reply to builds, for a reason of the test's.
struct NoBuilds final : evaluation::Evaluator {
  explicit NoBuilds(base::NotDone reason) : why(std::move(reason)) {}
  base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    if (std::holds_alternative<evaluation::Build>(request)) return tl::make_unexpected(why);
    return device.answer(request, std::move(stop));
  }
  base::NotDone why;
  FakeEvaluator device;
};

TEST_F(AttemptTest, BuildPutOff_WaitsAndFailsNothing) {
  NoBuilds elsewhere(base::put_off("in a bundle").value());
  parts.team.on_execute = [](const auto&) { return "speed=3\n"; };
  Measurer measurer(&elsewhere, parts.recorder, parts.task, parts.measure);
  const auto outcome = run_with(measurer);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->put_off);
  EXPECT_FALSE(outcome->candidate);
  EXPECT_EQ(outcome->note, "in a bundle");
}

TEST_F(AttemptTest, WorkerNotFound_IsAnErrorAndNoEndOfTheRecord) {
  NoBuilds missing(base::Error{base::ErrorCode::not_found, "no program worker"});
  parts.team.on_execute = [](const auto&) { return "speed=3\n"; };
  Measurer measurer(&missing, parts.recorder, parts.task, parts.measure);
  const auto outcome = run_with(measurer);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "no program worker");
}

}  // namespace
}  // namespace accelopt::search
