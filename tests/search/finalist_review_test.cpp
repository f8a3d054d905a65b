// SPDX-License-Identifier: Apache-2.0
// Critical searches: developers over the beam, and a reviewer before the confirmation.
#include "search/finalist_review.hpp"

#include <gtest/gtest.h>

#include <array>

#include "search/fake_run.hpp"

namespace accelopt::search {
namespace {

/// Stops what holds a word, and turns the others around.
class FakeReviewer final : public FinalistReviewer {
 public:
  base::Outcome<FinalistReview> review(const std::vector<Candidate>& finalists, std::stop_token) override {
    ++calls;
    if (answer == Why::put_off) {
      waiting = 1;
      return base::put_off("1 of 1 questions wait for an answer");
    }
    if (answer == Why::ending) return base::ending("the budget is used up");
    FinalistReview review;
    for (const Candidate& one : finalists) {
      if (model::main_text(one.kernel.solution()).find(stops) != std::string::npos)
        review.stopped.push_back({one.kernel.id(), "it differs"});
      else
        review.order.insert(review.order.begin(), one.kernel.id());
    }
    review.summary = "first of " + std::to_string(finalists.size());
    review.decided_by = "pairs";
    review.report = {{"type", "review"}};
    review.usage.calls = 3;
    return review;
  }
  [[nodiscard]] int put_off() const override { return waiting; }

  using Why = base::Why;
  std::string stops = "nothing";
  std::optional<Why> answer{};
  int calls = 0;
  int waiting = 0;
};

/// A critical run of one iteration with three developers: speeds 2, 4 and 3.
struct CriticalRun : FakeRun {
  CriticalRun() {
    request.settings.iterations = 1;
    request.settings.developers = 3;
    request.settings.beam = 3;
    team.on_execute = [](const agents::ExecuteQuestion& question) {
      constexpr std::array kSpeeds{"speed=2\n", "speed=4\n", "speed=3\n"};
      return std::string(kSpeeds.at(static_cast<std::size_t>(question.context.identity.plan)));
    };
  }
  base::Result<RunReport> go_critical() {
    RunPorts ports{team.team(), request.missing == Missing::do_it ? &evaluator : nullptr, journal.get(), &events};
    ports.reviewer = request.missing == Missing::do_it ? &reviewer : nullptr;
    return run_search(request, ports, {wind_down.get_token(), abort.get_token()});
  }
  FakeReviewer reviewer;
};

TEST(CriticalSearch, Developers_AreSharedOutOverTheBeam) {
  SearchSettings settings;
  settings.developers = 3;
  EXPECT_EQ(plans_for(settings, 0, 1), 3);
  EXPECT_EQ(plans_for(settings, 0, 2), 2);
  EXPECT_EQ(plans_for(settings, 1, 2), 1);
  EXPECT_EQ(plans_for(settings, 2, 3), 1);
  settings.developers = 0;
  EXPECT_EQ(plans_for(settings, 1, 2), settings.plans);
  settings.developers = 7;
  EXPECT_FALSE(check(settings));
}

TEST(CriticalSearch, StoppedFinalist_IsNeverConfirmed) {
  CriticalRun run;
  run.reviewer.stops = "speed=4";

  const auto report = run.go_critical();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.team.executions.size(), 3U);
  EXPECT_EQ(run.reviewer.calls, 1);
  // Of the two that are left, the reviewer's first is confirmed: the slower one.
  EXPECT_EQ(model::main_text(*report->result.solution), "speed=2\n");
  EXPECT_EQ(report->result.counts.at("STOPPED_BY_REVIEW"), 1);
  EXPECT_EQ(report->result.usage.at("reviewer").calls, 3);
  EXPECT_EQ(report->result.reviewed, "first of 3");
}

TEST(CriticalSearch, Replay_DecidesAlikeWithoutAReviewer) {
  CriticalRun run;
  run.reviewer.stops = "speed=4";
  const auto first = run.go_critical();
  ASSERT_TRUE(first);

  run.request.missing = Missing::leave_it;
  const auto again = run.go_critical();

  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->result.decision_hash, first->result.decision_hash);
  EXPECT_EQ(run.reviewer.calls, 1);
}

TEST(CriticalSearch, AllStopped_NothingIsFound) {
  CriticalRun run;
  run.reviewer.stops = "speed";

  const auto report = run.go_critical();

  ASSERT_TRUE(report);
  EXPECT_EQ(report->result.outcome, RunOutcome::no_gain);
  EXPECT_NE(report->result.reason.find("stopped all 3 finalists"), std::string::npos) << report->result.reason;
  EXPECT_EQ(run.evaluator.confirms, 0);
}

TEST(CriticalSearch, NobodyReviews_NothingIsConfirmed) {
  CriticalRun run;
  run.reviewer.answer = base::Why::ending;

  const auto report = run.go_critical();

  ASSERT_TRUE(report);
  EXPECT_NE(report->result.reason.find("not reviewed: the budget is used up"), std::string::npos)
      << report->result.reason;
  EXPECT_EQ(run.evaluator.confirms, 0);
}

TEST(CriticalSearch, MissingAnswers_RunWaitsAndGoesOn) {
  CriticalRun run;
  run.reviewer.answer = base::Why::put_off;
  const auto waiting = run.go_critical();
  ASSERT_TRUE(waiting) << waiting.error().message;
  EXPECT_EQ(waiting->result.outcome, RunOutcome::waiting);
  EXPECT_EQ(waiting->questions_put_off, 1);

  run.reviewer.answer.reset();
  run.reviewer.waiting = 0;
  const auto report = run.go_critical();

  ASSERT_TRUE(report);
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(run.team.executions.size(), 3U);
}

}  // namespace
}  // namespace accelopt::search
