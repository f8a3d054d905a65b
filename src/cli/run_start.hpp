// SPDX-License-Identifier: Apache-2.0
// How commands begin a run and show it to its end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/search_options.hpp"
#include "cli/exit_code.hpp"
#include "model/task.hpp"
#include "search/result.hpp"

namespace accelopt::cli {

struct RunOptions {
  std::string task;  ///< its folder
  std::string workspace;
  std::string defer;
  std::vector<std::string> against{};
  bool json = false;
  bool verbose = false;
  app::SearchFlags search;
  std::function<void(const search::RunResult&)> ended = [](const search::RunResult&) {};  ///< how it ended, if it did
};

/// Estimates, enters the run, carries it out and says how it ended. @error as app::start_run.
base::Result<Exit> begin_search(const app::Shell& shell, const model::Task& task, const RunOptions& options);

}  // namespace accelopt::cli
