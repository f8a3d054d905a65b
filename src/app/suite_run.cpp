// SPDX-License-Identifier: Apache-2.0
#include "app/suite_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "app/bench_history.hpp"
#include "app/suite_tasks.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "base/utc.hpp"
#include "journal/suite_log.hpp"
#include "report/format.hpp"
#include "stats/estimate.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {
namespace {

/// Where a suite run and its runs are kept. Any thread.
class Record {
 public:
  Record(journal::Journal& journal, journal::SuiteLog& log, std::string id)
      : journal_(journal), log_(log), id_(std::move(id)) {}

  [[nodiscard]] journal::Journal& journal() const { return journal_; }
  base::Result<void> enter(const journal::SuiteEntry& entry) {
    const std::lock_guard lock(mutex_);
    return log_.enter(id_, entry);
  }

 private:
  journal::Journal& journal_;
  std::mutex mutex_;
  journal::SuiteLog& log_;
  std::string id_;  ///< of the suite run
};

/// The flags of one task's run: where the folder of recorded answers has one for each task, it is that one's.
SearchFlags flags_of(const SuitePlan& plan, const std::string& task) {
  SearchFlags flags = plan.request.search;
  if (flags.agents.replay.empty()) return flags;
  std::error_code ignored;
  const std::filesystem::path own = std::filesystem::path(flags.agents.replay) / task / "answers";
  if (std::filesystem::is_directory(own, ignored)) flags.agents.replay = own.string();
  return flags;
}

base::Result<SuiteOutcome> run_task(const Shell& shell, Record& record, const SuitePlan& plan,
                                    const std::filesystem::path& folder, model::EventSink& events,
                                    const std::shared_ptr<worker::Placement>& placement) {
  SuiteOutcome outcome{folder.filename().string(), std::nullopt, ""};
  const auto not_begun = [&](const base::Error& error) -> base::Result<SuiteOutcome> {
    outcome.error = error.message;
    TRY(record.enter({.task = outcome.task, .error = outcome.error}));
    return outcome;
  };
  const auto task = suites::load_task(folder);
  if (!task) return not_begun(task.error());
  TRY_ASSIGN(const RunSettings settings, settings_from(flags_of(plan, outcome.task), plan.config, shell.environment));
  if (const auto able = check_language(settings.agents, plan.config, *task); !able) return not_begun(able.error());
  TRY_ASSIGN(const journal::RunInfo run, begin_run(record.journal(), *task, folder, settings));
  TRY(record.enter({.task = outcome.task, .run = run.id}));
  auto result = carry_out(shell, record.journal(), run, plan.config, events, {.placement = placement});
  if (result) {
    outcome.result = std::move(*result);
    return outcome;
  }
  outcome.error = result.error().message;
  const bool gone = discard_failed_start(record.journal(), run.id, result.error());
  TRY(record.enter({.task = outcome.task, .run = gone ? "" : run.id, .error = outcome.error}));
  return outcome;
}

/// The tasks of a suite run, `jobs` of them at a time.
class Tasks {
 public:
  Tasks(const Shell& shell, Record& record, const SuitePlan& plan, const SuitePorts& ports)
      : shell_(shell),
        record_(record),
        plan_(plan),
        ports_(ports),
        placement_(
            make_placement(plan.device, std::min(plan.folders.size(), static_cast<std::size_t>(plan.request.jobs)))),
        outcomes_(plan.folders.size()) {}

  /// Every task, until the user stops it; outcomes in the suite's order. @error as run_task: the first.
  base::Result<std::vector<SuiteOutcome>> run() {
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < plan_.request.jobs; ++i) others.emplace_back([this] { run_in_turn(); });
      run_in_turn();
    }
    if (error_) return tl::make_unexpected(*error_);
    std::vector<SuiteOutcome> outcomes;
    for (std::optional<SuiteOutcome>& outcome : outcomes_) {
      if (outcome) outcomes.push_back(std::move(*outcome));
    }
    return outcomes;
  }

 private:
  void run_in_turn() {
    while (const auto task = next()) {
      const std::filesystem::path& folder = plan_.folders[*task];
      const auto progress = ports_.progress(folder.filename().string());
      auto outcome = run_task(shell_, record_, plan_, folder, *progress, placement_);
      if (outcome) ports_.finished(*outcome);
      const std::lock_guard lock(mutex_);
      if (outcome)
        outcomes_[*task] = std::move(*outcome);
      else if (!error_)
        error_ = outcome.error();
    }
  }

  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (shell_.stops.wind_down.stop_requested() || error_ || begun_ == plan_.folders.size()) return std::nullopt;
    return begun_++;
  }

  const Shell& shell_;
  Record& record_;
  const SuitePlan& plan_;
  const SuitePorts& ports_;
  const std::shared_ptr<worker::Placement> placement_;
  std::mutex mutex_;  ///< guards the rest
  std::size_t begun_ = 0;
  std::vector<std::optional<SuiteOutcome>> outcomes_;  ///< by task
  std::optional<base::Error> error_;
};

base::Result<SuiteTasks> wanted_tasks(const SuiteRequest& request) {
  TRY_ASSIGN(SuiteTasks tasks, suite_tasks(request.suite, request.workspace));
  if (request.only.empty()) return tasks;
  std::erase_if(tasks.folders, [&](const auto& folder) {
    return std::find(request.only.begin(), request.only.end(), folder.filename().string()) == request.only.end();
  });
  if (tasks.folders.empty())
    return base::fail(base::ErrorCode::not_found, request.suite + ": none of its tasks has a name given by --only");
  return tasks;
}

/// Enters a suite run, so that it is known however it ends.
base::Result<std::string> begin_suite(journal::SuiteLog& log, const SuitePlan& plan) {
  journal::SuiteRun run{.id = new_run_id(),
                        .suite = suite_path(plan.request.suite),
                        .created = base::utc_now(),
                        .program_version = kVersion,
                        .settings = plan.made_with,
                        .process = journal::this_process()};
  for (const std::filesystem::path& folder : plan.folders) run.tasks.push_back(folder.filename().string());
  TRY(log.begin(run));
  return run.id;
}

}  // namespace

void sum_up(SuiteReport& report) {
  std::vector<double> speedups;
  for (const SuiteOutcome& task : report.tasks) {
    report.improved += task.speedup() > 1 ? 1 : 0;
    report.failed += task.result ? 0 : 1;
    if (task.result) speedups.push_back(task.speedup());
  }
  if (!speedups.empty()) report.geometric_mean = stats::geometric_mean(speedups);
}

SuiteTimes times_of(const search::RunResult& result) {
  const bool improved = result.outcome == search::RunOutcome::improved;
  double before = 0;
  double after = 0;
  int count = 0;
  SuiteTimes times;
  for (const model::WorkloadTiming& workload : improved ? result.confirmation->workloads : result.baseline) {
    if (workload.role != model::Role::race) continue;
    before += std::log(improved ? workload.reference_ns.value_or(workload.time_ns) : workload.time_ns);
    after += std::log(workload.time_ns);
    times.roofline = std::min(times.roofline, workload.roofline ? workload.roofline->fraction : 0.0);
    ++count;
  }
  if (count == 0) return {0, 0, 0};
  times.baseline_ns = std::exp(before / count);
  times.best_ns = std::exp(after / count);
  return times;
}

base::Result<SuitePlan> plan_suite(const Shell& shell, SuiteRequest request) {
  SuitePlan plan;
  plan.request = std::move(request);
  TRY_ASSIGN(SuiteTasks tasks, wanted_tasks(plan.request));
  plan.folders = std::move(tasks.folders);
  plan.left_out = std::move(tasks.left_out);
  TRY_ASSIGN(plan.config, load_config(plan.request.workspace, shell.environment));
  TRY_ASSIGN(const RunSettings settings, settings_from(plan.request.search, plan.config, shell.environment));
  plan.device = settings.device;
  TRY_ASSIGN(plan.made_with, suite_settings(settings, plan.config));
  if (plan.request.jobs > 1) plan.made_with["jobs"] = plan.request.jobs;
  return plan;
}

base::Result<SuiteReport> run_suite(const Shell& shell, const SuitePlan& plan, const SuitePorts& ports) {
  const std::filesystem::path& workspace = plan.request.workspace;
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const auto log, journal::open_suite_log(workspace, journal::Access::read_write));
  SuiteReport report;
  report.suite = plan.request.suite;
  TRY_ASSIGN(report.id, begin_suite(*log, plan));
  const auto start = std::chrono::steady_clock::now();
  Record record(*journal, *log, report.id);
  auto tasks = Tasks(shell, record, plan, ports).run();
  if (!tasks) {
    static_cast<void>(log->end(report.id, to_string(model::RunStatus::failed)));  // the first error counts
    return tl::make_unexpected(tasks.error());
  }
  report.tasks = std::move(*tasks);
  report.interrupted = shell.stops.wind_down.stop_requested();
  TRY(log->end(report.id, to_string(report.interrupted ? model::RunStatus::interrupted : model::RunStatus::done)));
  sum_up(report);
  report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

base::Json to_json(const SuiteReport& report) {
  return {{"type", "bench"},
          {"schema", 1},
          {"suite", report.suite},
          {"suite_run", report.id},
          {"tasks", report.tasks.size()},
          {"improved", report.improved},
          {"failed", report.failed},
          {"geometric_mean", base::Json(report.geometric_mean)},
          {"wall_seconds", report.wall_seconds}};
}

std::string summary_text(const SuiteReport& report) {
  std::string text = fmt::format("{} of {} tasks improved; ", report.improved, report.tasks.size());
  if (report.geometric_mean)
    text += fmt::format("geometric mean {:.2f}x (a task without a gain counts as 1); ", *report.geometric_mean);
  if (report.failed > 0) text += fmt::format("{} failed", report.failed);
  if (report.failed > 0 && report.geometric_mean)
    text += fmt::format(" and {} left out of the mean", report.failed == 1 ? "is" : "are");
  if (report.failed > 0) text += "; ";
  return text + report::format_seconds(report.wall_seconds);
}

}  // namespace accelopt::app
