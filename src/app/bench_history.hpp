// SPDX-License-Identifier: Apache-2.0
// What earlier suite runs of a workspace came to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/run.hpp"
#include "base/result.hpp"
#include "report/suite_history.hpp"

namespace accelopt::app {

/// Which suite runs and tasks; empty fields take all.
struct HistoryFilter {
  std::string suite{};              ///< folder
  std::vector<std::string> only{};  ///< names of tasks
};

/// What the runs of a suite are made with, as docs/json.md has it: who plays the roles, the settings of the search, of
/// the measurement and of the device; neither the seed nor the knowledge store. @error as models_of_roles.
base::Result<base::Json> suite_settings(const RunSettings& settings, const Config& config);

/// A suite's folder as suite runs keep it: absolute, without a slash at its end.
std::string suite_path(const std::string& folder);

/// The workspace's suite runs, oldest first, as their runs' records say now: a run that was resumed since counts as it
/// ended. A suite run whose process is gone without a word is "cut short"; one on another machine that did not say how
/// it ended is "unknown". @error not_found: there is no workspace; else as journal::open_journal.
base::Result<std::vector<report::SuiteHistoryEntry>> read_history(const std::filesystem::path& workspace,
                                                                  const HistoryFilter& filter);

}  // namespace accelopt::app
