// SPDX-License-Identifier: Apache-2.0
// What the runs of a suite came to over time, with memory cold and warm.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "model/evaluation.hpp"
#include "report/convergence.hpp"

namespace accelopt::report {

/// One task of one suite run.
struct SuiteTask {
  std::string task;     ///< name of its folder
  std::string run{};    ///< id; empty: it could not begin
  std::string state{};  ///< of the run: "done", "running", "interrupted", ...; empty without one
  std::string outcome{};
  std::string error{};
  std::string device{};
  std::optional<model::Interval> speedup{};  ///< confirmed
  Convergence convergence{};
  int evaluations = 0;
  double wall_seconds = 0;
  std::optional<double> usd{};  ///< nothing: unknown
  bool cut_short = false;       ///< stopped by a person before its budget was used

  /// It came to a result: a task without a gain counts as 1.
  [[nodiscard]] bool finished() const { return state == "done"; }
  [[nodiscard]] bool warm() const { return convergence.recalled > 0; }
};

/// One `accelopt bench`.
struct SuiteHistoryEntry {
  std::string id;
  std::string suite;  ///< folder
  std::string created;
  std::string program_version{};
  std::string state;                 ///< "done", "running", "interrupted", "failed", "cut short", "unknown"
  base::Json settings{};             ///< what it was made with, an object (docs/json.md); null: unknown
  std::vector<std::string> tasks{};  ///< that were to be run
  std::vector<SuiteTask> begun{};    ///< in order
};

/// What several runs came to together. Means are geometric, over what is known.
struct SuiteFigures {
  int runs = 0;                         ///< that finished
  std::optional<double> speedup{};      ///< a run without a gain counts as 1
  std::optional<double> evaluations{};  ///< to kMostOfTheGain, of runs with a gain; at least 1
  std::optional<double> seconds{};      ///< likewise
  std::optional<double> usd{};          ///< of one run on average; nothing where one is unknown
};
SuiteFigures figures_of(const std::vector<SuiteTask>& runs);

/// One task's runs, or all tasks', apart by what memory they began with.
struct ColdAndWarm {
  std::string task;
  SuiteFigures cold;
  SuiteFigures warm;
};

/// Of suite runs that are alike: a row for each task in order of first appearance and, last, one named "" over the
/// tasks that have both: the geometric means of their figures, so that neither side counts tasks that the other has
/// not. Without such tasks there is none.
std::vector<ColdAndWarm> cold_and_warm(const std::vector<SuiteHistoryEntry>& history);

/// Runs that may be compared: of one suite, with one program version, on one device, with the same settings but for
/// what they recalled ("recall"), which is what cold and warm differ in.
struct AlikeRuns {
  int number = 0;  ///< of the settings and the version, from 1, in order of first appearance
  std::string suite;
  std::string program_version{};
  std::string device;                     ///< that they were measured on
  base::Json settings{};                  ///< without "recall"
  std::vector<std::string> suite_runs{};  ///< ids
  std::vector<ColdAndWarm> rows{};
};

/// What finished, by what it was made with. Runs whose settings are unknown are in none.
std::vector<AlikeRuns> alike_runs(const std::vector<SuiteHistoryEntry>& history);

/// Tables of suite runs and of tasks over time, and one with cold and warm beside each other for all that is alike;
/// oldest first.
std::string to_text(const std::vector<SuiteHistoryEntry>& history);
/// One object a suite run and, last, one with the comparison (docs/json.md).
std::vector<base::Json> to_json_lines(const std::vector<SuiteHistoryEntry>& history);

}  // namespace accelopt::report
