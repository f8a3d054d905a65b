// SPDX-License-Identifier: Apache-2.0
// Models as a player of a suite of refactorings: one task, by the search that `accelopt refactor run` is.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/search_options.hpp"
#include "app/shell.hpp"
#include "report/resolve_times.hpp"

namespace accelopt::app {

/// One task that models play, in folders that vanish.
struct ModelGame {
  std::filesystem::path task;       ///< folder of refactor.toml, in its repository
  std::filesystem::path workspace;  ///< to make
  std::string knowledge;            ///< the store's file
  SearchFlags flags;                ///< of the search, without the game's own
  double enough = 0;                ///< speed-up that ends it once it is surely reached; 0: there is none
  std::string name;                 ///< folder of its answers below those of --mailbox, --record, --replay
  std::function<void(const std::string&)> step = [](const std::string&) {};
};

/// What there is about the run beside the line.
struct ModelGameEnd {
  std::string run;  ///< id
};

/// Fills in what the search came to, times and costs, but for whether it resolves the task. What fails is in the line.
/// @error io.
base::Result<ModelGameEnd> play_with_models(const Shell& shell, const Config& config, const ModelGame& game,
                                            report::ResolveLine& line);

/// Who plays, and how, as lines of results state it.
/// @error invalid_argument: the flags or the configuration name no model.
base::Result<base::Json> player_of(const SearchFlags& flags, const Config& config);

}  // namespace accelopt::app
