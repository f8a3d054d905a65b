// SPDX-License-Identifier: Apache-2.0
// Limits hold, whatever is in flight: of the budget alone, and of whole runs in which a scripted model answers at
// random length and everything takes its time on a clock of the test.
#include "search/budget.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "agents/model_agents.hpp"
#include "base/hash.hpp"
#include "fakes/fake_evaluator.hpp"
#include "fakes/fake_team.hpp"
#include "fakes/scripted_chat_model.hpp"
#include "search/budgeted_chat.hpp"
#include "search/journaled_chat.hpp"
#include "search/metered_evaluator.hpp"
#include "search/search.hpp"

namespace accelopt::search {
namespace {

using base::ErrorCode;
using fakes::ScriptedChatModel;
using std::chrono::steady_clock;

/// Time that passes when the test says so.
class TestClock {
 public:
  [[nodiscard]] Budget::Clock clock() const {
    return [this] { return steady_clock::time_point(std::chrono::milliseconds(elapsed_ms_)); };
  }
  void pass(double seconds) { elapsed_ms_ += static_cast<std::int64_t>(seconds * 1e3); }

 private:
  std::atomic<std::int64_t> elapsed_ms_ = 1'000'000;
};

TEST(Budget, ARaceThatWouldOutlastTheTimeIsNotBegun) {
  TestClock clock;
  Budget budget({.max_seconds = 100}, clock.clock());
  ASSERT_TRUE(budget.take_evaluation("a"));
  clock.pass(80);
  EXPECT_TRUE(budget.reserve({.device_seconds = 4}, {})) << "85 s are not kept back";
  EXPECT_FALSE(budget.ended_by());
  const auto too_long = budget.reserve({.device_seconds = 6}, {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_seconds);
  EXPECT_EQ(budget.explanation(), "80 of 100 s were used, and the rest is kept for the confirmation");
}

TEST(Budget, AShareOfTokensAndDollarsIsKeptForTheReview) {
  for (const auto& [limited, amount] :
       {std::pair{SearchSettings{.developers = 3, .max_tokens = 1000}, Amounts{.tokens = 100}},
        {SearchSettings{.developers = 3, .max_usd = 10.0}, Amounts{.usd = 1}}}) {
    Budget budget(limited);
    for (int question = 0; question < 7; ++question) {
      auto reservation = budget.reserve(amount, {});
      ASSERT_TRUE(reservation) << question;
      reservation->settle(amount);
    }
    ASSERT_FALSE(budget.reserve(amount, {})) << "seven tenths are used";
    EXPECT_TRUE(budget.ended_by());
    EXPECT_NE(budget.explanation().find("the rest is kept for the review"), std::string::npos) << budget.explanation();
    for (int question = 0; question < 3; ++question) {
      auto reservation = budget.reserve_for_review([amount = amount] { return amount; }, {});
      ASSERT_TRUE(reservation) << question;
      reservation->settle(amount);
    }
    const auto over = budget.reserve_for_review([amount = amount] { return amount; }, {});
    ASSERT_FALSE(over) << "all is used";
    EXPECT_EQ(over.error().why, base::Why::ending);
  }
}

TEST(Budget, AReviewThatTimeEndedHasHalfOfTheShareOfTheConfirmation) {
  TestClock clock;
  Budget budget({.developers = 3, .max_seconds = 100}, clock.clock());
  clock.pass(90);
  EXPECT_FALSE(budget.reserve({.tokens = 1}, {})) << "85 s are over";
  EXPECT_TRUE(budget.reserve_for_review([] { return Amounts{.tokens = 1}; }, {}));
  budget.tick();
  EXPECT_FALSE(budget.time_of_review_is_up().stop_requested()) << "a question in flight may still be answered";
  clock.pass(2.5);
  budget.tick();
  EXPECT_TRUE(budget.time_of_review_is_up().stop_requested());
  EXPECT_FALSE(budget.reserve_for_review([] { return Amounts{.tokens = 1}; }, {}));
}

TEST(Budget, ATimeThatIsTooShortForOneCandidateSaysWhatWouldBeEnough) {
  TestClock clock;
  Budget budget({.max_seconds = 8}, clock.clock());
  budget.expect_conclusion(9);
  clock.pass(3.5);
  EXPECT_FALSE(budget.reserve({.device_seconds = 1}, {}));
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_seconds);
  const std::string said = budget.explanation();
  EXPECT_NE(said.find("none was left for a candidate; give at least 26 s"), std::string::npos) << said;
}

TEST(Budget, WhatIsReservedIsNobodyElsesUntilItIsSettled) {
  Budget budget({.max_tokens = 1000});
  auto first = budget.reserve({.tokens = 700}, {});
  ASSERT_TRUE(first);
  std::atomic<bool> second_done = false;
  std::jthread other([&] {
    auto second = budget.reserve({.tokens = 600}, {});
    EXPECT_TRUE(second) << "there is room for it once the first took less than it might have";
    second_done = true;
    second->settle({.tokens = 500});
  });
  EXPECT_FALSE(second_done);
  first->settle({.tokens = 300});
  other.join();
  EXPECT_TRUE(budget.may_ask());
  auto third = budget.reserve({.tokens = 201}, {});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::cancelled);
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_tokens);
  EXPECT_NE(budget.explanation().find("800 of 1000"), std::string::npos) << budget.explanation();
  EXPECT_TRUE(budget.may_measure()) << "what was answered is measured";
  EXPECT_TRUE(budget.reserve({.device_seconds = 1}, {}));
}

TEST(Budget, AReservationThatIsDroppedIsGivenBack) {
  Budget budget({.max_usd = 1.0});
  {
    const auto dropped = budget.reserve({.usd = 0.9}, {});
    ASSERT_TRUE(dropped);
  }
  EXPECT_TRUE(budget.reserve({.usd = 0.9}, {}));
}

TEST(Budget, WaitingForAReservationHearsAStop) {
  Budget budget({.max_tokens = 1000});
  const auto first = budget.reserve({.tokens = 700}, {});
  std::stop_source stop;
  std::jthread other([&] {
    const auto second = budget.reserve({.tokens = 700}, stop.get_token());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::cancelled);
  });
  stop.request_stop();
  other.join();
  EXPECT_EQ(budget.ended_by(), std::nullopt) << "one run's stop is not the budget's end";
}

TEST(Budget, AShareOfTheTimeIsKeptForTheConfirmation) {
  TestClock clock;
  Budget budget({.max_seconds = 100}, clock.clock());
  clock.pass(84);
  EXPECT_TRUE(budget.may_ask());
  budget.expect_conclusion(30);
  EXPECT_FALSE(budget.may_ask());
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_seconds);
  EXPECT_FALSE(budget.may_measure());
  EXPECT_TRUE(budget.time_is_up().stop_requested());
  EXPECT_FALSE(budget.exhausted());
  clock.pass(17);
  EXPECT_TRUE(budget.exhausted());
}

TEST(Budget, NoMoreThanHalfIsKeptBack) {
  TestClock clock;
  Budget budget({.max_seconds = 100}, clock.clock());
  budget.expect_conclusion(90);
  clock.pass(49);
  EXPECT_TRUE(budget.may_ask());
  clock.pass(2);
  EXPECT_FALSE(budget.may_ask());
}

TEST(Budget, TimeThatRunsOutAfterTheTokensDidIsHeardToo) {
  TestClock clock;
  Budget budget({.max_seconds = 100, .max_tokens = 10}, clock.clock());
  EXPECT_FALSE(budget.reserve({.tokens = 11}, {}));
  EXPECT_FALSE(budget.time_is_up().stop_requested());
  clock.pass(90);
  budget.tick();
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_seconds);
  EXPECT_TRUE(budget.time_is_up().stop_requested());
}

TEST(Budget, EarlierSessionsCount) {
  journal::Spent before;
  before.usage.calls = 1;
  before.usage.input_tokens = 900;
  before.usage.usd = 0.5;
  before.evaluations = 4;
  before.wall_seconds = 80;
  before.device_seconds = 7;
  TestClock clock;
  Budget tokens({.max_tokens = 1000}, clock.clock(), before);
  EXPECT_FALSE(tokens.reserve({.tokens = 101}, {}));
  Budget time({.max_seconds = 90}, clock.clock(), before);
  EXPECT_FALSE(time.may_ask());
  Budget device({.max_device_seconds = 10}, clock.clock(), before);
  EXPECT_FALSE(device.reserve({.device_seconds = 2}, {}));
  Budget evaluations({.max_evaluations = 5}, clock.clock(), before);
  EXPECT_TRUE(evaluations.take_evaluation("a", OnRecord::yes));
  EXPECT_TRUE(evaluations.take_evaluation("b"));
  EXPECT_FALSE(evaluations.take_evaluation("c"))
      << "four were made before, though only one of them was met again so far";
  EXPECT_EQ(evaluations.ended_by(), model::EndReason::max_evaluations);
  EXPECT_DOUBLE_EQ(time.elapsed_seconds(), 80);
}

TEST(Budget, ASourceCountsOnce) {
  Budget budget({.max_evaluations = 2});
  EXPECT_TRUE(budget.take_evaluation("a"));
  EXPECT_TRUE(budget.take_evaluation("a")) << "another attempt is measured with it";
  EXPECT_TRUE(budget.take_evaluation("a", OnRecord::yes));
  EXPECT_EQ(budget.evaluations(), 1);
  EXPECT_TRUE(budget.take_evaluation("b"));
  EXPECT_FALSE(budget.take_evaluation("c"));
  EXPECT_TRUE(budget.take_evaluation("b")) << "nothing is built for it";
  EXPECT_EQ(budget.evaluations(), 2);
}

TEST(Budget, AnEvaluationIsKeptForAnAnswerToCome) {
  Budget budget({.max_evaluations = 1});
  Budget::KeptEvaluation first(budget);
  ASSERT_TRUE(first.keep({}));
  std::atomic<bool> second_done = false;
  std::jthread other([&] {
    Budget::KeptEvaluation second(budget);
    EXPECT_TRUE(second.keep({})) << "the first answer needed none";
    second_done = true;
  });
  EXPECT_FALSE(second_done);
  first.give_back();
  other.join();
  EXPECT_TRUE(budget.may_plan());
  ASSERT_TRUE(budget.take_evaluation("a"));
  EXPECT_TRUE(budget.may_ask()) << "lessons can still be learned";
  EXPECT_FALSE(budget.may_plan());
  EXPECT_FALSE(first.keep({}));
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_evaluations);
}

TEST(Budget, ARequestToEndBeginsNothingNew) {
  Budget budget({});
  budget.end(model::EndReason::stop);
  EXPECT_FALSE(budget.may_ask());
  EXPECT_FALSE(budget.may_measure());
  EXPECT_EQ(budget.ended_by(), model::EndReason::stop);
}

llm::ChatRequest question(const std::string& label, std::size_t bytes = 3000) {
  return {.label = label,
          .messages = {{llm::Speaker::user, std::string(bytes, 'x')}},
          .temperature = {},
          .max_output_tokens = {}};
}

TEST(BudgetedChat, ReservesThePromptAndTheLimitOfTheAnswer) {
  Budget budget({.max_tokens = 2000});
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t) { return ScriptedChatModel::text_reply("hello"); });
  const auto chat = make_budgeted_chat(model, {.price = {}, .max_output_tokens = 900}, budget);
  EXPECT_TRUE(chat->chat(question("planner i0"), {}));  // 1008 + 900 fit
  EXPECT_FALSE(chat->chat(question("planner i1", 60'000), {}));
  EXPECT_EQ(model.calls("planner"), 1U) << "what might not fit is not asked";
  EXPECT_EQ(budget.ended_by(), model::EndReason::max_tokens);
}

TEST(BudgetedChat, ExpectsAnswersAsLongAsThoseOfTheRoleWere) {
  Budget budget({.max_tokens = 20'000});
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t) { return ScriptedChatModel::text_reply("hello"); });
  const auto chat = make_budgeted_chat(model, {}, budget);
  // The first may take 8192 tokens for the answer; those after a short one may not.
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(chat->chat(question("planner i" + std::to_string(i)), {})) << i;
  EXPECT_TRUE(budget.may_ask());
}

TEST(BudgetedChat, WhereTheServerTellsNoTokensTheyAreEstimatedAndSaidToBe) {
  Budget budget({.max_usd = 10.0});
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t) {
    auto reply = ScriptedChatModel::text_reply(std::string(300, 'y'));
    reply.usage = {.calls = 1};
    return reply;
  });
  const auto chat = make_budgeted_chat(model, {.price = llm::Price{1, 1, 2}, .max_output_tokens = {}}, budget);
  const auto reply = chat->chat(question("planner i0"), {});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->usage.estimated_calls, 1);
  EXPECT_EQ(reply->usage.output_tokens, 100);
  EXPECT_EQ(reply->usage.input_tokens, 1008);
  ASSERT_TRUE(reply->usage.usd);
  EXPECT_DOUBLE_EQ(*reply->usage.usd, (1008 + 2 * 100) / 1e6);
}

TEST(BudgetedChat, EstimatesOfTokens_DoNotGrowWithTheCalls) {
  Budget budget({});
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t) {
    auto reply = ScriptedChatModel::text_reply(std::string(300, 'y'));
    reply.usage = {.calls = 1};
    return reply;
  });
  const auto chat = make_budgeted_chat(model, {}, budget);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(chat->chat(question("planner i0"), {})->usage.input_tokens, 1008);
}

TEST(BudgetedChat, EndedTime_BreaksOffThePaidQuestion) {
  Budget budget({.max_tokens = 100'000});
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t) { return ScriptedChatModel::text_reply("late"); });
  class Waiting : public llm::ChatModel {
   public:
    base::Outcome<llm::ChatReply> chat(const llm::ChatRequest&, std::stop_token stop) override {
      asked.request_stop();
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, stop, [] { return false; });
      return base::fail(ErrorCode::cancelled, "stopped");
    }
    [[nodiscard]] std::string name() const override { return "waiting"; }
    std::stop_source asked;
  } waiting;
  const auto chat = make_budgeted_chat(waiting, {}, budget);
  const std::stop_callback on_asked(waiting.asked.get_token(),
                                    [&] { std::thread([&] { budget.end(model::EndReason::stop); }).detach(); });
  const auto reply = chat->chat(question("planner i0"), {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::cancelled);
}

/// A model that answers each role in its form, at a random length that a seed decides.
class RandomModel final : public llm::ChatModel {
 public:
  RandomModel(std::uint64_t seed, TestClock& clock) : seed_(seed), clock_(clock) {}

  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token stop) override {
    if (stop.stop_requested()) return base::fail(ErrorCode::cancelled, "stopped");
    std::mt19937_64 random(base::derive_seed(seed_, request.label));
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    const std::string role = request.label.substr(0, request.label.find(' '));
    llm::ChatReply reply;
    if (role == "planner") reply.text = "Title: plan " + request.label + "\nRests on: none\nDo it.";
    if (role == "executor" || role == "fixer") {
      const std::string broken = role == "executor" && draw(0, 3) == 0 ? " compile_error" : "";
      // What tells one kernel from another stands in its code: comments do not count.
      reply.text =
          "```cpp\nextern \"C\" void kernel() { auto says = \"speed=" + std::to_string(0.8 + 0.01 * draw(0, 200)) +
          broken + " " + request.label + "\"; }\n```\n";
    }
    if (role == "summarizer") reply.text = R"({"title": "t", "strategy": "s", "before": "b", "after": "a"})";
    reply.model = "random";
    std::size_t bytes = 0;
    for (const auto& message : request.messages) bytes += message.text.size();
    reply.usage.calls = 1;
    reply.usage.input_tokens = static_cast<std::int64_t>(bytes / 4);
    reply.usage.output_tokens = draw(200, 1500);
    reply.usage.usd = llm::cost_usd(reply.usage, kPrice);
    clock_.pass(0.1 * draw(5, 30));
    ++calls;
    tokens += reply.usage.tokens();
    longest = std::max<std::int64_t>(longest, reply.usage.tokens());
    return reply;
  }
  [[nodiscard]] std::string name() const override { return "random"; }

  static constexpr llm::Price kPrice{1, 0.1, 4};
  std::atomic<int> calls = 0;
  std::atomic<std::int64_t> tokens = 0;
  std::atomic<std::int64_t> longest = 0;

 private:
  std::uint64_t seed_;
  TestClock& clock_;
};

/// Races take their time too, on the test's clock and in what they say of their stages.
class SlowEvaluator : public fakes::FakeEvaluator {
 public:
  explicit SlowEvaluator(TestClock& clock) : clock_(clock) {}
  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token stop) override {
    TRY_ASSIGN(auto evaluation, FakeEvaluator::triage(candidate, opponent, stop));
    const double seconds = 0.2 + 0.02 * static_cast<double>(model::source_id(candidate)[0] % 16);
    clock_.pass(seconds);
    device_ms += static_cast<std::int64_t>(seconds * 1e3);
    // The budget looks at how long it took by its own clock as well, which stands still here.
    std::this_thread::yield();
    evaluation.stages.push_back({model::Stage::triage, seconds});
    return evaluation;
  }
  base::Result<model::Evaluation> confirm(const model::Solution& solution, std::stop_token stop) override {
    clock_.pass(1.0);
    return FakeEvaluator::confirm(solution, stop);
  }
  std::atomic<std::int64_t> device_ms = 0;

 private:
  TestClock& clock_;
};

/// A whole run: the real prompts and agents, a random model, a device of the test.
struct BudgetRun {
  explicit BudgetRun(std::uint64_t seed) : model(seed, clock), evaluator(clock) {
    task.definition.name = "small";
    task.definition.axes = {{"M", std::nullopt}};
    task.baseline = {model::Language::cpp,
                     {{"baseline.cpp", "extern \"C\" void kernel() { auto says = \"speed=1\"; }\n"}}};
    task.reference = {"reference.cpp", "ref"};
    model::Workload workload;
    workload.name = "small";
    workload.axes = {{"M", 8}};
    task.workloads = {workload};
    settings.iterations = 8;
    settings.beam = 2;
    settings.plans = 3;
    settings.patience = 0;
    info.id = "r1";
    info.task = task;
    EXPECT_TRUE(journal->create_run(info));
  }

  RunResult go() {
    Budget budget(settings, clock.clock());
    const auto prompts = *agents::load_prompts();
    const auto chat = make_budgeted_chat(model, {.price = RandomModel::kPrice, .max_output_tokens = {}}, budget);
    const auto planner = agents::make_model_planner(*chat, prompts);
    const auto executor = agents::make_model_executor(*chat, prompts);
    const auto fixer = agents::make_model_fixer(*chat, prompts);
    const auto summarizer = agents::make_model_summarizer(*chat, prompts);
    const auto metered = make_metered_evaluator(evaluator, budget);
    RunPorts ports{
        {planner.get(), executor.get(), fixer.get(), summarizer.get()}, metered.get(), journal.get(), &events};
    ports.budget = &budget;
    const RunRequest request{
        .run = "r1", .task = task, .settings = settings, .measure = {}, .seed = 1, .missing = Missing::do_it};
    const auto report = run_search(request, ports, {});
    EXPECT_TRUE(report) << report.error().message;
    device_seconds = budget.device_seconds();
    elapsed_seconds = budget.elapsed_seconds();
    return report ? report->result : RunResult();
  }

  /// From the record alone, as `replay` and `verify` do it.
  [[nodiscard]] RunResult replay() const {
    Notes unheard;
    const RunRequest request{
        .run = "r1", .task = task, .settings = settings, .measure = {}, .seed = 1, .missing = Missing::leave_it};
    const auto report = run_search(request, {{}, nullptr, journal.get(), &unheard}, {});
    EXPECT_TRUE(report) << report.error().message;
    return report ? report->result : RunResult();
  }

  TestClock clock;
  RandomModel model;
  SlowEvaluator evaluator;
  std::unique_ptr<journal::Journal> journal = std::move(*journal::open_memory_journal());
  /// Keeps why attempts came to nothing, for the messages of this test.
  class Notes : public model::EventSink {
   public:
    void on(const model::Event& event) override {
      const auto* moved = std::get_if<model::AttemptMoved>(&event);
      if (moved == nullptr || moved->note.empty()) return;
      const std::scoped_lock lock(mutex_);
      last = moved->note;
    }
    std::string last;

   private:
    std::mutex mutex_;
  } events;
  model::Task task;
  SearchSettings settings;
  journal::RunInfo info;
  double device_seconds = 0;
  double elapsed_seconds = 0;
};

constexpr int kRuns = 10;

/// Whatever a result says of decisions and of work follows from the record; what the run took is its own.
void expect_replay_of(const BudgetRun& run, const RunResult& result) {
  base::Json stated = to_result_json(result);
  base::Json again = to_result_json(run.replay());
  for (const char* own : {"device_seconds", "wall_seconds", "usage"}) {
    stated.erase(own);
    again.erase(own);
  }
  if (result.outcome == RunOutcome::budget)
    stated["reason"] = result.reason.substr(0, result.reason.find(kBudgetEndedIt));
  EXPECT_EQ(again, stated);
}

void expect_confirmed_end(const BudgetRun& run, const RunResult& result, model::EndReason limit) {
  expect_replay_of(run, result);
  EXPECT_EQ(result.stopped_by, limit) << base::Json(result.counts) << " " << run.events.last;
  if (result.gains > 0) {
    EXPECT_EQ(result.outcome, RunOutcome::improved);
    EXPECT_EQ(run.evaluator.confirms, 1);
  } else {
    EXPECT_EQ(result.outcome, RunOutcome::budget);
    EXPECT_NE(result.reason.find("the budget ended it"), std::string::npos) << result.reason;
  }
}

TEST(BudgetedRun, TenRunsNeverExceedTheirTokens) {
  int improved = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BudgetRun run(seed);
    run.settings.max_tokens = 60'000 + 9'000 * static_cast<std::int64_t>(seed);
    const RunResult result = run.go();
    expect_confirmed_end(run, result, model::EndReason::max_tokens);
    // An answer may be half as long again as any before it at most, or its reservation is exceeded by what it is over.
    EXPECT_LE(run.model.tokens, *run.settings.max_tokens + run.model.longest);
    EXPECT_GE(static_cast<double>(run.model.tokens), 0.7 * static_cast<double>(*run.settings.max_tokens));
    improved += result.outcome == RunOutcome::improved ? 1 : 0;
  }
  EXPECT_GE(improved, 5);
}

TEST(BudgetedRun, TenRunsNeverExceedTheirDollars) {
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BudgetRun run(seed);
    run.settings.max_usd = 0.10 + 0.01 * static_cast<double>(seed);
    const RunResult result = run.go();
    expect_confirmed_end(run, result, model::EndReason::max_usd);
    model::Usage total;
    for (const auto& [role, usage] : result.usage) total += usage;
    ASSERT_TRUE(total.total_usd());
    EXPECT_LE(*total.total_usd(), *run.settings.max_usd + static_cast<double>(run.model.longest) * 4e-6);
    EXPECT_GE(*total.total_usd(), 0.7 * *run.settings.max_usd);
  }
}

TEST(BudgetedRun, TenRunsNeverExceedTheirEvaluations) {
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BudgetRun run(seed);
    run.settings.max_evaluations = 3 + static_cast<int>(seed);
    const RunResult result = run.go();
    expect_confirmed_end(run, result, model::EndReason::max_evaluations);
    EXPECT_LE(run.evaluator.builds, *run.settings.max_evaluations);
    EXPECT_EQ(result.evaluations, *run.settings.max_evaluations);
  }
}

TEST(BudgetedRun, TenRunsNeverExceedTheirDeviceTime) {
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BudgetRun run(seed);
    run.settings.max_device_seconds = 4 + static_cast<double>(seed);
    const RunResult result = run.go();
    expect_confirmed_end(run, result, model::EndReason::max_device_seconds);
    EXPECT_LE(run.device_seconds, *run.settings.max_device_seconds);
    EXPECT_GE(run.device_seconds, 0.3 * *run.settings.max_device_seconds);
  }
}

TEST(BudgetedRun, TenRunsKeepToTheirTime) {
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BudgetRun run(seed);
    run.settings.max_seconds = 60 + 10 * static_cast<double>(seed);
    const RunResult result = run.go();
    expect_confirmed_end(run, result, model::EndReason::max_seconds);
    // What was in flight when the time for searching was up may still pass: twelve questions of 3 s on this clock, on
    // which all of them are as if one after the other.
    EXPECT_LE(run.elapsed_seconds, *run.settings.max_seconds + 12 * 3.0);
    EXPECT_GE(run.elapsed_seconds, 0.8 * *run.settings.max_seconds);
  }
}

TEST(BudgetedRun, ABudgetThatHoldsNoQuestionEndsWithTheReason) {
  BudgetRun run(1);
  run.settings.max_tokens = 100;
  const RunResult result = run.go();
  EXPECT_EQ(result.outcome, RunOutcome::budget);
  EXPECT_EQ(run.model.calls, 0);
  EXPECT_NE(result.reason.find("0 of 100 tokens"), std::string::npos) << result.reason;
  expect_replay_of(run, result);
}

TEST(BudgetedRun, AResumedRunDecidesAsItDidThoughNothingIsLeft) {
  BudgetRun run(3);
  run.settings.max_tokens = 90'000;
  const RunResult first = run.go();
  const int calls = run.model.calls;
  run.settings.max_tokens = 1;  // as if all of it were spent
  const RunResult again = run.go();
  EXPECT_EQ(again.decision_hash, first.decision_hash);
  EXPECT_EQ(run.model.calls, calls);
}

}  // namespace
}  // namespace accelopt::search
