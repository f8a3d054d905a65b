// SPDX-License-Identifier: Apache-2.0
#include "search/asker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

/// Askers of one run: each as of a process of its own.
class AskerTest : public testing::Test {
 protected:
  struct Session {
    explicit Session(AskerTest& test, const SearchSettings& settings = {})
        : recorder(*test.journal_, "r1", Missing::do_it), budget(settings), asker(test.agents_, recorder, budget) {}
    Recorder recorder;
    Budget budget;
    Asker asker;
  };

  [[nodiscard]] agents::PlanQuestion plan_question() const {
    agents::PlanQuestion question;
    question.context.identity = {.iteration = 0, .parent = 0, .plan = 0};
    question.context.task = &task_;
    question.kernel = model::Kernel(task_.baseline);
    return question;
  }
  void planner_fails(ErrorCode code) {
    team_.on_plan = [code](const auto&) -> FakeTeam::PlanResult { return base::fail(code, "the server said no"); };
  }

  std::unique_ptr<journal::Journal> journal_ = journal_of_one_run();
  model::Task task_ = small_task();
  FakeTeam team_;
  const agents::Team agents_ = team_.team();
};

TEST_F(AskerTest, AnswerOnRecord_IsNotAskedAgain) {
  Session first(*this);
  ASSERT_TRUE(first.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  Session resumed(*this);
  const auto answer = resumed.asker.plan(plan_question(), Asker::input_hash(plan_question()), {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->value->title, "plan i0.b0.p0");
  EXPECT_EQ(team_.plans.size(), 1U);
  EXPECT_EQ(resumed.budget.by_role()["planner"].calls, 1) << "it was paid for by the same run";
}

TEST_F(AskerTest, OtherMemory_IsAnotherQuestion) {
  Session session(*this);
  agents::PlanQuestion question = plan_question();
  ASSERT_TRUE(session.asker.plan(question, Asker::input_hash(question), {}));
  question.memory.emplace_back().title = "an experience";
  ASSERT_TRUE(session.asker.plan(question, Asker::input_hash(question), {}));
  EXPECT_EQ(team_.plans.size(), 2U);
}

TEST_F(AskerTest, EndedBudget_RefusesOnlyNewQuestions) {
  Session first(*this);
  ASSERT_TRUE(first.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  first.budget.end(model::EndReason::stop);
  EXPECT_TRUE(first.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  agents::PlanQuestion other = plan_question();
  other.context.identity.plan = 1;
  const auto refused = first.asker.plan(other, Asker::input_hash(other), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::cancelled);
  EXPECT_EQ(team_.plans.size(), 1U);
}

TEST_F(AskerTest, BadLuck_LosesTheAnswerOnly) {
  for (const ErrorCode code :
       {ErrorCode::unavailable, ErrorCode::rate_limited, ErrorCode::timed_out, ErrorCode::parse, ErrorCode::internal}) {
    Session session(*this);
    planner_fails(code);
    const auto answer = session.asker.plan(plan_question(), Asker::input_hash(plan_question()), {});
    ASSERT_TRUE(answer) << base::to_string(code);
    EXPECT_FALSE(answer->value);
    EXPECT_EQ(answer->lost, "the server said no");
    ASSERT_TRUE(session.asker.unanswered());
    EXPECT_EQ(session.asker.unanswered()->code, code);
  }
}

TEST_F(AskerTest, LostAnswer_StaysLostOnceSettled) {
  planner_fails(ErrorCode::timed_out);
  Session unsettled(*this);
  ASSERT_TRUE(unsettled.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  Session settled(*this);
  ASSERT_TRUE(settled.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  EXPECT_EQ(team_.plans.size(), 2U) << "what was not settled is asked again";
  ASSERT_TRUE(settled.asker.settle());
  EXPECT_FALSE(settled.asker.unanswered());
  team_.on_plan = [](const auto&) -> FakeTeam::PlanResult { return answered(model::Plan{"late", {}, ""}); };
  Session resumed(*this);
  const auto answer = resumed.asker.plan(plan_question(), Asker::input_hash(plan_question()), {});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->value);
  EXPECT_EQ(team_.plans.size(), 2U);
}

TEST_F(AskerTest, LostAnswer_CostsWhatItsChatsTook) {
  planner_fails(ErrorCode::timed_out);
  Session session(*this);
  ASSERT_TRUE(
      session.recorder.once<base::Json>({{}, "chat:planner i0.b0.p0 try0"}, {}, []() -> base::Result<base::Json> {
        return base::Json{{"usage", model::Usage{.calls = 1, .input_tokens = 70}}};
      }));
  ASSERT_TRUE(session.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  EXPECT_EQ(session.budget.by_role()["planner"].input_tokens, 70);
  ASSERT_TRUE(session.asker.settle());
  const auto steps = journal_->steps("r1");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->back().key.kind, "plan");
  EXPECT_EQ(steps->back().usage.input_tokens, 70) << "whoever sums the steps finds it, too";
}

TEST_F(AskerTest, RefusalForGood_EndsTheRun) {
  Session session(*this);
  planner_fails(ErrorCode::unauthenticated);
  EXPECT_EQ(session.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}).error().code,
            ErrorCode::unauthenticated);
  planner_fails(ErrorCode::invalid_argument);
  EXPECT_EQ(session.asker.plan(plan_question(), Asker::input_hash(plan_question()), {}).error().code,
            ErrorCode::permission_denied)
      << "not the command line's fault";
  EXPECT_FALSE(session.asker.unanswered());
}

TEST_F(AskerTest, RefusalAfterAnAnswer_LosesTheQuestionOnly) {
  ASSERT_TRUE(Session(*this).asker.plan(plan_question(), Asker::input_hash(plan_question()), {}));
  Session resumed(*this);
  ASSERT_TRUE(resumed.asker.plan(plan_question(), Asker::input_hash(plan_question()), {})) << "it is on record";
  planner_fails(ErrorCode::invalid_argument);
  agents::PlanQuestion filtered = plan_question();
  filtered.context.identity.plan = 1;
  const auto answer = resumed.asker.plan(filtered, Asker::input_hash(filtered), {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->value);
  EXPECT_EQ(answer->lost, "the server said no");
  EXPECT_EQ(resumed.asker.unanswered()->code, ErrorCode::permission_denied) << "not the command line's fault";
  filtered.context.identity.plan = 2;
  for (const ErrorCode code : {ErrorCode::unauthenticated, ErrorCode::quota_exceeded}) {
    planner_fails(code);
    const auto ended = resumed.asker.plan(filtered, Asker::input_hash(filtered), {});
    ASSERT_FALSE(ended) << base::to_string(code) << " would refuse every other question, too";
    EXPECT_EQ(ended.error().code, code);
  }
}

TEST_F(AskerTest, EveryRole_IsRecordedAndCharged) {
  for (int round = 0; round < 2; ++round) {
    Session session(*this);
    const agents::Context context = plan_question().context;
    EXPECT_EQ(session.asker.plans(plan_question(), Asker::input_hash(plan_question()), {})->value->size(), 1U);
    agents::ExecuteQuestion execute{context, model::Kernel(task_.baseline), {"plan", {}, ""}};
    EXPECT_TRUE(session.asker.execute(execute, {})->value);
    agents::FixQuestion fix;
    fix.context = context;
    fix.parent = fix.broken = model::Kernel(task_.baseline);
    EXPECT_TRUE(session.asker.fix(fix, {})->value);
    agents::SummarizeQuestion summarize;
    summarize.context = context;
    summarize.plan.title = "plan";
    EXPECT_EQ((*session.asker.summarize(summarize, {})->value)->title, "lesson of plan");
    EXPECT_EQ(session.asker.summarize_all({summarize, summarize}, {})->value->size(), 2U);
    for (const char* role : {"planner", "executor", "fixer"})
      EXPECT_EQ(session.budget.by_role()[role].calls, 1) << role;
    EXPECT_EQ(session.budget.by_role()["summarizer"].calls, 3);
  }
  EXPECT_EQ(team_.plans.size() + team_.executions.size() + team_.fixes.size(), 3U);
  EXPECT_EQ(team_.summaries.size(), 3U);
}

TEST(Budget, QuestionThatWaited_ExpectsWhatIsKnownByThen) {
  Budget budget({.max_tokens = 12'000});
  auto first = budget.reserve({.tokens = 9200}, {});
  ASSERT_TRUE(first);
  std::latch waits(1);
  int estimates = 0;
  std::jthread second([&] {
    // While no answer is known, as much as the first; then what that taught.
    const auto expected = [&]() -> Amounts {
      if (++estimates > 1) return {.tokens = 2500};
      waits.count_down();  // under the budget's lock, which it gives up to wait
      return {.tokens = 11'000};
    };
    EXPECT_TRUE(budget.reserve(expected, {})) << budget.explanation();
  });
  waits.wait();
  first->settle({.tokens = 1500});
  second.join();
  EXPECT_FALSE(budget.ended_by()) << budget.explanation();
}

TEST(Search, RunThatTokensEnded_SaysWhyBesideItsWinner) {
  FakeRun run;
  run.team.on_execute = double_or_halve;
  run.request.settings.max_tokens = 500;
  const auto report = run.go();
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->result.outcome, RunOutcome::improved);
  ASSERT_EQ(report->result.stopped_by, model::EndReason::max_tokens);
  EXPECT_TRUE(std::ranges::any_of(run.events.texts, [](const std::string& text) {
    return text.find("of 500 tokens were used") != std::string::npos;
  }));
}

TEST(Search, RunWhoseModelFailsForGood_IsFinishedWithWhatItFound) {
  FakeRun run;
  run.team.on_execute = double_or_halve;
  run.team.on_plan = [](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    if (question.context.identity.iteration > 0) return base::fail(ErrorCode::unauthenticated, "401");
    return answered(model::Plan{"good", {}, "do it"});
  };
  ASSERT_FALSE(run.go());
  Budget finishing(run.request.settings);
  finishing.end(model::EndReason::stop);
  RunPorts ports{run.team.team(), &run.evaluator, run.journal.get(), &run.events};
  ports.budget = &finishing;

  const auto report = run_search(run.request, ports, {});

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(report->result.stopped_by, model::EndReason::stop);
}

}  // namespace
}  // namespace accelopt::search
