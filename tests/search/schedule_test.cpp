// SPDX-License-Identifier: Apache-2.0
// What overlaps with what: threads that meet, instead of times.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "search/fake_run.hpp"

namespace accelopt::search {
namespace {

/// Counts who is inside at once. May be used from many threads.
class Crowd {
 public:
  class Visit {
   public:
    explicit Visit(Crowd& crowd) : crowd_(crowd) {
      const int now = ++crowd_.inside;
      int most = crowd_.most;
      while (now > most && !crowd_.most.compare_exchange_weak(most, now)) {
      }
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { --crowd_.inside; }

   private:
    Crowd& crowd_;
  };
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
};

/// Opens once and for all; who waits longer than a test may last goes on, and the test fails by what it then counts.
class Latch {
 public:
  void open() {
    {
      const std::scoped_lock lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// A device that tells who is on it.
class WatchedEvaluator : public FakeEvaluator {
 public:
  Crowd builders;
  Crowd evaluators;  ///< builds and measurements
  std::function<void()> before_triage = [] {};
  std::function<void()> before_playoff = [] {};

  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token stop) override {
    const Crowd::Visit building(builders);
    const Crowd::Visit evaluating(evaluators);
    return FakeEvaluator::build(solution, stop);
  }
  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token stop) override {
    const Crowd::Visit evaluating(evaluators);
    before_triage();
    return FakeEvaluator::triage(candidate, opponent, stop);
  }
  base::Result<evaluation::PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int places,
                                                  std::stop_token stop) override {
    const Crowd::Visit evaluating(evaluators);
    before_playoff();
    return FakeEvaluator::playoff(arms, places, stop);
  }
};

using WatchedRun = FakeRunOn<WatchedEvaluator>;

/// Every kind of thing happens: better, worse, broken, equal and mended kernels, as a function of the question alone.
void play_everything(FakeTeam& team) {
  team.on_execute = [](const agents::ExecuteQuestion& question) -> std::string {
    const auto& id = question.context.identity;
    const double speed = fakes::claimed_speed(model::main_text(question.kernel.solution()));
    if (id.attempt == 1 && id.plan % 2 == 0) return "compile_error shared " + std::to_string(speed) + "\n";
    if (id.plan == 1 && id.attempt == 0) return "wrong speed=" + std::to_string(speed * 2) + "\n";
    return "speed=" + std::to_string(speed * (1 + 0.25 * ((id.plan + 2 * id.attempt) % 3 - 0.5))) + "\n";
  };
  team.on_fix = [](const agents::FixQuestion& question) -> std::string {
    const auto& id = question.context.identity;
    if (id.fix == 1 && id.plan == 1) return "crash once more\n";
    return "speed=" + std::to_string(1.1 + 0.01 * id.plan + 0.1 * id.fix) + "\n";
  };
}

template <class Run>
void ask_much(Run& run) {
  run.request.settings.iterations = 3;
  run.request.settings.beam = 3;
  run.request.settings.plans = 3;
  run.request.settings.attempts = 2;
  run.request.settings.patience = 0;
  play_everything(run.team);
}

TEST(Schedule, DecidesTheSameWhateverOverlaps) {
  std::map<Schedule, std::set<std::string>> hashes;
  for (const Schedule schedule : {Schedule::serial, Schedule::stages, Schedule::pipeline}) {
    for (int round = 0; round < 3; ++round) {
      FakeRun run;
      ask_much(run);
      run.request.schedule = schedule;
      const auto report = run.go();
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_GT(report->result.counts.at("PASSED"), 10);
      hashes[schedule].insert(report->result.decision_hash);

      run.request.missing = Missing::leave_it;
      const auto replay = run.go();
      ASSERT_TRUE(replay) << replay.error().message;
      EXPECT_EQ(replay->result.decision_hash, report->result.decision_hash);
      EXPECT_EQ(replay->steps_absent, 0);
    }
  }
  EXPECT_EQ(hashes[Schedule::serial].size(), 1U);
  EXPECT_EQ(hashes[Schedule::stages], hashes[Schedule::serial]);
  EXPECT_EQ(hashes[Schedule::pipeline], hashes[Schedule::serial]);
}

TEST(Schedule, SerialDoesOneThingAtATime) {
  WatchedRun run;
  ask_much(run);
  run.request.schedule = Schedule::serial;
  Crowd models;
  const auto execute = run.team.on_execute;
  run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
    const Crowd::Visit visit(models);
    const Crowd::Visit busy(run.evaluator.evaluators);
    return execute(question);
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(models.most, 1);
  EXPECT_EQ(run.evaluator.evaluators.most, 1);
}

TEST(Schedule, StagesAsksAllAtOnceThenEvaluatesOneByOne) {
  WatchedRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 4;
  run.request.settings.attempts = 2;
  run.request.schedule = Schedule::stages;
  Latch all_asked;
  std::atomic<int> planned = 0, executing = 0, executed = 0;
  std::atomic<bool> executed_early = false, judged_early = false;
  run.team.on_plan = [&](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    ++planned;
    return answered(model::Plan{"plan " + model::to_string(question.context.identity), {}, "do it"});
  };
  run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
    if (planned < 4) executed_early = true;
    if (++executing == 8) all_asked.open();
    EXPECT_TRUE(all_asked.wait()) << "the calls of a stage are made at once";
    ++executed;
    const auto& id = question.context.identity;
    return "speed=" + std::to_string(1 + 0.1 * id.plan + 0.01 * id.attempt) + "\n";
  };
  run.evaluator.before_triage = [&] {
    if (executed < 8) judged_early = true;
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(executed_early);
  EXPECT_FALSE(judged_early);
  EXPECT_EQ(run.evaluator.evaluators.most, 1);
  EXPECT_EQ(run.evaluator.triages, 8);
}

TEST(Schedule, InAPipelineABuildDoesNotWaitForAMeasurementNorForAModel) {
  WatchedRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 3;
  Latch measuring, both_built;
  std::atomic<int> triages = 0;
  run.evaluator.before_triage = [&] {
    if (++triages > 1) return;
    measuring.open();
    EXPECT_TRUE(both_built.wait()) << "the others are asked for and built while this one is measured";
  };
  run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
    const int plan = question.context.identity.plan;
    EXPECT_TRUE(plan == 0 || measuring.wait()) << "the first is measured while models still answer";
    return "speed=" + std::to_string(2 + plan) + "\n";
  };
  std::jthread watcher([&](const std::stop_token& stop) {
    while (run.evaluator.builds < 3 && !stop.stop_requested()) std::this_thread::yield();
    both_built.open();
  });

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(triages, 3);
}

TEST(Schedule, InAPipelineTheLessonsAreWrittenDuringThePlayOff) {
  WatchedRun run;
  run.request.settings.iterations = 1;
  run.team.on_execute = double_or_halve;
  Latch racing, writing;
  run.evaluator.before_playoff = [&] {
    racing.open();
    EXPECT_TRUE(writing.wait()) << "the summarizer is asked before the play-off is over";
  };
  run.team.on_summarize = [&](const agents::SummarizeQuestion& question) -> FakeTeam::LessonResult {
    writing.open();
    EXPECT_TRUE(racing.wait()) << "the play-off does not wait for the summarizer";
    return answered(std::optional(agents::Lesson{"lesson of " + question.plan.title, "strategy", "before", "after"}));
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.experiences, 2);
}

TEST(Schedule, BusyDevice_HoldsQuestionsBack) {
  constexpr int kAttempts = 6;
  constexpr int kWaiting = 3;
  WatchedRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 40;
  run.request.flow = {.attempts = kAttempts, .waiting = kWaiting};
  Crowd models;
  std::atomic<int> answers = 0, most_ahead = 0;
  std::atomic<int> judged = 0;
  run.evaluator.before_triage = [&] {
    // How many answers wait for this device, this one among them.
    const int ahead = answers - judged++;
    int most = most_ahead;
    while (ahead > most && !most_ahead.compare_exchange_weak(most, ahead)) {
    }
    std::this_thread::yield();
  };
  run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
    const Crowd::Visit visit(models);
    ++answers;
    return "speed=" + std::to_string(2 + 0.01 * question.context.identity.plan) + "\n";
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.evaluator.triages, 40);
  EXPECT_LE(models.most, kAttempts);
  EXPECT_LE(most_ahead, kAttempts);
}

TEST(Schedule, NoQuestionIsAskedWhileTooManySolutionsWaitForTheDevice) {
  constexpr int kPlans = 8;
  WatchedRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = kPlans;
  run.request.flow.waiting = 1;
  Latch all_asked, at_device;
  std::atomic<int> planners = 0, planned = 0, executed = 0, asked_in_the_jam = 0, triages = 0;
  std::atomic<bool> jam = false;
  run.team.on_plan = [&](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    // All are asked for a plan at once; the others get theirs, and would ask for the code, when the first one's
    // solution is at the device.
    if (++planners == kPlans) all_asked.open();
    EXPECT_TRUE(question.context.identity.plan == 0 ? all_asked.wait() : at_device.wait());
    ++planned;
    return answered(model::Plan{"plan " + model::to_string(question.context.identity), {}, "do it"});
  };
  run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
    ++executed;
    if (jam) ++asked_in_the_jam;
    return "speed=" + std::to_string(2 + 0.01 * question.context.identity.plan) + "\n";
  };
  run.evaluator.before_triage = [&] {
    if (++triages > 1) return;
    jam = true;
    at_device.open();
    while (planned < kPlans) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // time enough for who would not be held back
    jam = false;
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(asked_in_the_jam, 0);
  EXPECT_EQ(executed, kPlans) << "held back, never lost";
  EXPECT_EQ(run.evaluator.triages, kPlans);
}

TEST(Schedule, ImpatientFix_IsDroppedForAnEqualAnswer) {
  // Plan 0 answers last and fails like plan 1 did, whose fix was asked by then.
  const auto play = [](FakeRun& run, Latch* fixed) {
    run.request.settings.iterations = 1;
    run.request.settings.plans = 2;
    run.request.flow.equal_answers = std::chrono::milliseconds(0);
    run.team.on_execute = [fixed](const agents::ExecuteQuestion& question) {
      EXPECT_TRUE(!fixed || question.context.identity.plan > 0 || fixed->wait());
      return "compile_error same\n";
    };
    run.team.on_fix = [fixed](const agents::FixQuestion& question) {
      const int plan = question.context.identity.plan;
      if (fixed && plan == 1) fixed->open();
      return "speed=" + std::to_string(2 + plan) + "\n";
    };
  };
  FakeRun serial;
  play(serial, nullptr);
  serial.request.schedule = Schedule::serial;
  const auto in_order = serial.go();
  ASSERT_TRUE(in_order) << in_order.error().message;
  ASSERT_EQ(serial.team.fixes.size(), 1U);

  FakeRun late;
  Latch fixed;
  play(late, &fixed);
  const auto out_of_order = late.go();

  ASSERT_TRUE(out_of_order) << out_of_order.error().message;
  EXPECT_EQ(late.team.fixes.size(), 2U);
  EXPECT_EQ(out_of_order->result.decision_hash, in_order->result.decision_hash);
  EXPECT_DOUBLE_EQ(out_of_order->result.confirmation->ratio->estimate, 2.0);
  late.request.missing = Missing::leave_it;
  const auto replay = late.go();
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_EQ(replay->result.decision_hash, in_order->result.decision_hash);
  EXPECT_EQ(replay->steps_absent, 0);
}

TEST(Schedule, StagesRefusesMoreAttemptsThanCanStandSideBySide) {
  FakeRun run;
  run.request.settings.beam = 64;
  run.request.settings.plans = 256;
  run.request.schedule = Schedule::stages;

  const auto report = run.go();

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(report.error().message.find("--schedule stages"), std::string::npos);
}

TEST(ParseSchedule, KnowsThreeAndListsThem) {
  for (const Schedule schedule : {Schedule::pipeline, Schedule::stages, Schedule::serial})
    EXPECT_EQ(parse_schedule(to_string(schedule)).value(), schedule);
  const auto unknown = parse_schedule("parallel");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(unknown.error().message.find("pipeline, stages and serial"), std::string::npos);
}

/// Opens nothing until it is stopped.
class SilentEvaluator : public FakeEvaluator {
 public:
  std::function<void()> before_open = [] {};
  base::Result<evaluation::OpenReport> open(const model::Task&, const evaluation::MeasureSettings&,
                                            std::stop_token stop) override {
    before_open();
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "stopped as asked");
    return base::fail(base::ErrorCode::internal, "nobody ended the opening");
  }
};

TEST(Schedule, WindDownWhileTheTaskIsOpened_EndsTheOpening) {
  FakeRun run;
  SilentEvaluator evaluator;
  evaluator.before_open = [&] { run.wind_down.request_stop(); };
  const RunPorts ports{run.team.team(), &evaluator, run.journal.get(), &run.events};
  const auto report = run_search(run.request, ports, {run.wind_down.get_token(), run.abort.get_token()});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::ErrorCode::cancelled) << report.error().message;
}

}  // namespace
}  // namespace accelopt::search
