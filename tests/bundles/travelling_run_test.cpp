// SPDX-License-Identifier: Apache-2.0
// A whole search whose evaluations travel in bundles, beside the same search with its device at hand.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/files.hpp"
#include "bundles/bundle.hpp"
#include "bundles/deferred_evaluator.hpp"
#include "bundles/runner.hpp"
#include "search/fake_run.hpp"

namespace accelopt::bundles {
namespace {

using base::Json;
using search::RunOutcome;

/// What devices did in all executions.
struct Work {
  int opens = 0, builds = 0, triages = 0, playoffs = 0, confirms = 0;
  bool operator==(const Work&) const = default;
};

/// Opening a task profiles its baseline, as on a processor.
class ProfilingDevice : public fakes::FakeEvaluator {
 public:
  base::Result<evaluation::OpenReport> open(const model::Task& task, const evaluation::MeasureSettings& settings,
                                            std::stop_token stop) override {
    TRY_ASSIGN(auto report, FakeEvaluator::open(task, settings, stop));
    TRY_ASSIGN(report.baseline.profile, profile(task.baseline, stop));
    return report;
  }
};

using ProfiledRun = search::FakeRunOn<ProfilingDevice>;

class CountedDevice final : public ProfilingDevice {
 public:
  explicit CountedDevice(Work& work) : work_(work) {}
  CountedDevice(const CountedDevice&) = delete;
  CountedDevice& operator=(const CountedDevice&) = delete;
  ~CountedDevice() override {
    work_.opens += opens;
    work_.builds += builds;
    work_.triages += triages;
    work_.playoffs += playoffs;
    work_.confirms += confirms;
  }

 private:
  Work& work_;
};

/// Gains, losses, twins of one program, and kernels that leave a value open.
std::string answer(const agents::ExecuteQuestion& question) {
  const auto& id = question.context.identity;
  const double speed = fakes::claimed_speed(model::main_text(question.kernel.solution()));
  const auto faster = [&](double factor) { return "speed=" + std::to_string(speed * factor) + "\n"; };
  if (id.plan == 0) return (id.attempt == 0 ? "" : "note b\n") + faster(1.5);
  if (id.plan == 1) return id.attempt == 0 ? faster(0.5) : faster(1.2 + 0.01 * id.parent);
  return "//@ tune A in {1, 2}\n" + faster(1.1 + 0.01 * id.attempt) + (id.attempt == 0 ? "" : "held_out_bad\n");
}

void prepare(ProfiledRun& run, int fixes) {
  run.request.settings.iterations = 3;
  run.request.settings.beam = 2;
  run.request.settings.plans = 3;
  run.request.settings.attempts = 2;
  run.request.settings.fixes = fixes;
  run.request.settings.patience = 0;
  run.request.settings.near_roofline = 0;
  run.team.on_execute = answer;
}

/// Every measurement on record, by its step.
std::map<std::string, std::string> measurements(ProfiledRun& run) {
  const std::set<model::StepKind> kinds{model::StepKind::open,    model::StepKind::build,    model::StepKind::triage,
                                        model::StepKind::profile, model::StepKind::held_out, model::StepKind::playoff,
                                        model::StepKind::confirm};
  std::map<std::string, std::string> out;
  const auto steps = run.journal->steps("r1");
  EXPECT_TRUE(steps);
  for (const journal::StepRecord& step : *steps) {
    if (kinds.contains(*model::step_kind(step.key.kind)))
      out[model::to_string(step.key.identity) + step.key.kind + step.input_hash] = base::canonical(step.output);
  }
  return out;
}

/// Connections to the device until the run has ended.
class Travelling {
 public:
  Travelling() : folder_(*base::TemporaryFolder::create("accelopt-travelling-test")) {}

  /// Each execution ends after so many items; 0: with the bundle.
  search::RunReport to_the_end(ProfiledRun& run, int items_at_once) {
    for (;;) {
      const auto deferred = make_deferred_evaluator(
          {.answer = [this](const std::string& id) -> base::Result<std::optional<TakenIn>> {
             const auto found = answers_.find(id);
             return found == answers_.end() ? std::nullopt : std::optional<TakenIn>(found->second);
           },
           .under_way = [](const std::string&) { return false; }});
      search::RunPorts ports{run.team.team(), deferred.get(), run.journal.get(), &run.events};
      ports.lookahead = deferred.get();
      const auto report = search::run_search(run.request, ports, {});
      EXPECT_TRUE(report) << report.error().message;
      if (!report || report->result.outcome != RunOutcome::waiting || bundles == 30) return *report;
      Bundle bundle;
      bundle.run = "r1";
      bundle.number = ++bundles;
      bundle.program_version = "1";
      bundle.device = "fake";
      bundle.task = run.request.task;
      bundle.task_id = model::task_id(bundle.task);
      bundle.items = deferred->collected();
      carry(bundle, items_at_once);
    }
  }

  int bundles = 0;
  Work work;

 private:
  void carry(Bundle& bundle, int items_at_once) {
    const auto folder = write_bundle(folder_.path(), bundle);
    ASSERT_TRUE(folder) << folder.error().message;
    for (int execution = 0; execution < 1000; ++execution) {
      std::stop_source stop;
      std::atomic<int> begun = 0;
      BundleExecution execute;
      execute.make_evaluator = [this](const Bundle&) -> base::Result<std::unique_ptr<evaluation::Evaluator>> {
        return std::make_unique<CountedDevice>(work);
      };
      execute.now = [] { return std::string("2026-11-21T10:00:00Z"); };
      execute.program_version = "1";
      execute.notice = [&](const std::string& text) {
        if (items_at_once > 0 && text.find(" of ") != std::string::npos && ++begun > items_at_once) stop.request_stop();
      };
      const auto executed = execute_bundle(*folder, execute, stop.get_token());
      if (executed) break;
      ASSERT_EQ(executed.error().code, base::ErrorCode::cancelled) << executed.error().message;
    }
    const auto results = read_results(*folder, *read_bundle(*folder));
    ASSERT_TRUE(results) << results.error().message;
    for (const auto& [item, outcome] : results->outcomes) {
      const Outcome& own = outcome.same_as.empty() ? outcome : results->outcomes.at(outcome.same_as);
      if (own.result)
        answers_.insert_or_assign(outcome.same_as.empty() ? outcome.request : item, TakenIn(tl::in_place, *own.result));
    }
  }

  base::TemporaryFolder folder_;
  std::map<std::string, TakenIn> answers_;
};

TEST(TravellingRun, Iteration_IsOneBundle_AndDecidesAlike) {
  ProfiledRun connected;
  prepare(connected, 0);
  const auto at_hand = connected.go();
  ASSERT_TRUE(at_hand) << at_hand.error().message;
  ASSERT_EQ(at_hand->result.outcome, RunOutcome::improved);

  ProfiledRun run;
  prepare(run, 0);
  Travelling travelling;
  const auto report = travelling.to_the_end(run, 0);

  EXPECT_EQ(report.result.outcome, RunOutcome::improved);
  EXPECT_EQ(report.result.iterations, 3);
  EXPECT_EQ(travelling.bundles, 1 + 3) << "the baseline, and each iteration with its play-off; the last one confirms";
  EXPECT_EQ(report.result.decision_hash, at_hand->result.decision_hash);
  EXPECT_EQ(measurements(run), measurements(connected));
  EXPECT_EQ(run.team.executions.size(), connected.team.executions.size()) << "no answer is asked for twice";
  EXPECT_EQ(travelling.work.playoffs, 3);
  EXPECT_EQ(travelling.work.confirms, 1);
}

TEST(TravellingRun, Interrupted_LosesNothing) {
  ProfiledRun whole;
  prepare(whole, 0);
  Travelling at_once;
  const auto expected = at_once.to_the_end(whole, 0);

  ProfiledRun run;
  prepare(run, 0);
  Travelling in_pieces;
  const auto report = in_pieces.to_the_end(run, 3);

  EXPECT_EQ(report.result.decision_hash, expected.result.decision_hash);
  EXPECT_EQ(measurements(run), measurements(whole));
  EXPECT_EQ(in_pieces.bundles, at_once.bundles);
  EXPECT_GT(in_pieces.work.opens, at_once.work.opens) << "it was interrupted";
  in_pieces.work.opens = at_once.work.opens;
  EXPECT_EQ(in_pieces.work, at_once.work) << "nothing was measured twice";
}

TEST(TravellingRun, Failure_GoesToTheFixer_BeforeThePlayoff) {
  const auto failing = [](const agents::ExecuteQuestion& question) {
    const auto& id = question.context.identity;
    return id.plan == 1 && id.attempt == 0 && id.parent == 0 ? "compile_error\n" + answer(question) : answer(question);
  };
  const auto mended = [](const agents::FixQuestion& question) {
    return "speed=" + std::to_string(2 * fakes::claimed_speed(model::main_text(question.parent.solution()))) + "\n";
  };
  ProfiledRun connected;
  prepare(connected, 1);
  connected.team.on_execute = failing;
  connected.team.on_fix = mended;
  const auto at_hand = connected.go();
  ASSERT_TRUE(at_hand);

  ProfiledRun run;
  prepare(run, 1);
  run.team.on_execute = failing;
  run.team.on_fix = mended;
  Travelling travelling;
  const auto report = travelling.to_the_end(run, 0);

  EXPECT_EQ(report.result.decision_hash, at_hand->result.decision_hash);
  EXPECT_EQ(measurements(run), measurements(connected));
  EXPECT_EQ(travelling.bundles, 1 + 3 * 2) << "attempts; then fixes, the play-off, and at the end the confirmation";
  EXPECT_EQ(travelling.work.playoffs, 3) << "none is raced before its field is known";
}

}  // namespace
}  // namespace accelopt::bundles
