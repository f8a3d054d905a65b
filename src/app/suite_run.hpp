// SPDX-License-Identifier: Apache-2.0
// A run of every task of a suite, and what came of it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/search_options.hpp"
#include "base/result.hpp"

namespace accelopt::app {

struct SuiteRequest {
  std::string suite;                ///< folder whose sub-folders are tasks, or a dataset of FlashInfer Trace
  std::vector<std::string> only{};  ///< names of tasks; none: all
  std::filesystem::path workspace;
  int jobs = 1;  ///< tasks that run side by side
  SearchFlags search{};
};

/// A suite run that can begin: what was asked for is there, and fits together.
struct SuitePlan {
  SuiteRequest request;
  std::vector<std::filesystem::path> folders;  ///< of the tasks
  std::vector<std::string> left_out{};         ///< of a dataset: what is no complete task, each with the reason
  Config config;
  DeviceFlags device{};  ///< where the tasks are measured
  base::Json made_with;  ///< as suite_settings
};

/// What came of one task.
struct SuiteOutcome {
  std::string task;
  std::optional<search::RunResult> result;  ///< none: `error`
  std::string error;

  [[nodiscard]] bool improved() const { return result && result->outcome == search::RunOutcome::improved; }
  [[nodiscard]] double speedup() const { return improved() ? result->confirmation->ratio->estimate : 1.0; }
};

/// The raced workloads' geometric mean, nanoseconds, before and after, and the smallest share of the roofline after.
struct SuiteTimes {
  double baseline_ns = 0;
  double best_ns = 0;
  double roofline = 1;
};
SuiteTimes times_of(const search::RunResult& result);

struct SuiteReport {
  std::string id;                   ///< of the suite run
  std::string suite;                ///< as it was asked for
  std::vector<SuiteOutcome> tasks;  ///< that were begun, in the suite's order
  int improved = 0;
  int failed = 0;  ///< came to no result
  /// Of the speed-ups of tasks with a result, of which one without a gain counts as 1; none: no task has a result.
  std::optional<double> geometric_mean{};
  double wall_seconds = 0;
  bool interrupted = false;
};

/// Who follows a suite run. Called from several threads where tasks run side by side.
struct SuitePorts {
  std::function<std::unique_ptr<model::EventSink>(const std::string& task)> progress;
  std::function<void(const SuiteOutcome&)> finished = [](const SuiteOutcome&) {};
};

/// @error invalid_argument: as settings_from; not_found: no such suite, or none of its tasks has such a name.
base::Result<SuitePlan> plan_suite(const Shell& shell, SuiteRequest request);

/// Runs the tasks until the shell is to wind down, and enters all of it into the workspace.
/// @error as begin_run, and what the journal says; what fails within one task is that task's outcome.
base::Result<SuiteReport> run_suite(const Shell& shell, const SuitePlan& plan, const SuitePorts& ports);

/// Counts the report's tasks, and averages their speed-ups.
void sum_up(SuiteReport& report);

/// The last line of docs/json.md.
base::Json to_json(const SuiteReport& report);
/// The last line of the table for people, without its end.
std::string summary_text(const SuiteReport& report);

}  // namespace accelopt::app
