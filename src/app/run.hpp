// SPDX-License-Identifier: Apache-2.0
// One run from start to end, as run, resume and bench use it: journal, worker, agents and search put together.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/device.hpp"
#include "app/run_arms.hpp"
#include "app/shell.hpp"
#include "app/team.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "journal/journal.hpp"
#include "search/estimate.hpp"
#include "search/search.hpp"

namespace accelopt::app {

/// A run as the journal keeps its settings: enough to resume it without the command line that began it.
struct RunSettings {
  search::SearchSettings search;
  evaluation::MeasureSettings measure;
  AgentFlags agents;
  DeviceFlags device;
  search::Schedule schedule = search::Schedule::pipeline;
  std::string knowledge;          ///< as chosen_knowledge() says
  std::vector<RunArm> against{};  ///< what the winner is compared with
  int tests = 0;                  ///< that a tester is asked for, of a task of a repository
};

/// How runs under these rules measure.
model::Protocol protocol_of(search::Rules rules);

base::Json to_json(const RunSettings& settings);
base::Result<RunSettings> run_settings_from(const base::Json& json);

/// Enters a new run into the journal. @error as Journal::create_run.
base::Result<journal::RunInfo> begin_run(journal::Journal& journal, const model::Task& task,
                                         const std::filesystem::path& folder, const RunSettings& settings);

/// Of a run that was just entered and whose carrying out failed: takes it out of the journal again where nothing was
/// asked or measured, so that a failed start leaves no run. Whether it is gone.
bool discard_failed_start(const journal::Journal& journal, const std::string& run, const base::Error& error);

/// What one command changes when it continues a run.
struct ResumeOptions {
  std::string device{};                 ///< measure here from now on; empty: where it last did
  std::vector<WorkerConfig> workers{};  ///< measure through these from now on; none: as above
  std::string defer{};                  ///< bundles go here from now on, and those that are gone are written again
  std::string bundle{};                 ///< what came back, where it is not where it was written; for now alone
  std::string model{};                  ///< ask this from now on; empty: as before, as are the three below
  std::string base_url{};               ///< a key belongs to its endpoint: another needs key_env again, or has none
  std::string api{};                    ///< likewise
  std::string key_env{};                ///< from now on
  bool exit_when_waiting = false;       ///< for now alone
  bool finish = false;                  ///< ask nothing new: race and confirm what was found
  /// Shared with the runs that go on at the same time; null: this one has the workers to itself.
  std::shared_ptr<worker::Placement> placement{};
};

/// Searches until the run ends, and records how it ended. Also resumes: what is on record is not done again.
/// @error as search::run_search, make_team and resumed_settings.
base::Result<search::RunResult> carry_out(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                                          const Config& config, model::EventSink& events,
                                          const ResumeOptions& options = {});

/// What a run is begun with.
struct NewRun {
  const model::Task& task;
  std::filesystem::path folder;  ///< of the task
  const RunSettings& settings;
  const search::Estimate& estimate;
};

/// How a run ended, or why it could not be carried out.
struct RunEnd {
  std::string run;
  base::Result<search::RunResult> result;
  bool discarded = false;  ///< it could not be started, and is not on record
};

/// Enters a run with its estimate and carries it out. @error as begin_run.
base::Result<RunEnd> start_run(const Shell& shell, journal::Journal& journal, const NewRun& begun, const Config& config,
                               model::EventSink& events);

/// Continues a run.
RunEnd resume_run(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run, const Config& config,
                  model::EventSink& events, const ResumeOptions& options);

}  // namespace accelopt::app
