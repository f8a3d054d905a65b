// SPDX-License-Identifier: Apache-2.0
// One run from start to end, as run, resume and bench use it: journal, worker, agents and search put together.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/device.hpp"
#include "app/shell.hpp"
#include "app/team.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "journal/journal.hpp"
#include "search/search.hpp"

namespace accelopt::app {

/// A run as the journal keeps its settings: enough to resume it without the command line that began it.
struct RunSettings {
  search::SearchSettings search;
  evaluation::MeasureSettings measure;
  AgentFlags agents;
  DeviceFlags device;
  search::Schedule schedule = search::Schedule::pipeline;
  std::string knowledge;  ///< as chosen_knowledge() says
};

base::Json to_json(const RunSettings& settings);
base::Result<RunSettings> run_settings_from(const base::Json& json);

/// Enters a new run into the journal. @error as Journal::create_run.
base::Result<journal::RunInfo> begin_run(journal::Journal& journal, const model::Task& task,
                                         const std::filesystem::path& folder, const RunSettings& settings);

/// Of a run that was just entered and whose carrying out failed: takes it out of the journal again where nothing was
/// asked or measured, so that a failed start leaves no run. Whether it is gone.
bool discard_failed_start(const journal::Journal& journal, const std::string& run, const base::Error& error);

/// Searches until the run ends, and records how it ended. Also resumes: what is on record is not done again.
/// @error as search::run_search and make_team.
base::Result<search::RunResult> carry_out(Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                                          const Config& config, model::EventSink& events);

}  // namespace accelopt::app
