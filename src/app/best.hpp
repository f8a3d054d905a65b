// SPDX-License-Identifier: Apache-2.0
// The winners of runs, on their way into their users' files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/device.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "journal/journal.hpp"
#include "model/evaluation.hpp"
#include "model/solution.hpp"
#include "scaffold/patch_form.hpp"

namespace accelopt::app {

struct Winner {
  journal::RunInfo run;
  model::Solution solution;                  ///< as winner_of gives it, or what is left of it
  std::optional<model::Interval> speedup{};  ///< the solution's own over the baseline, as confirmed
};
/// @error as Journal::find_run and winner_of.
base::Result<Winner> find_winner(journal::Journal& journal, const std::string& run);

struct BestOptions {
  std::string output;            ///< folder
  std::string compile_commands;  ///< of the user's build; empty: the nearest one
  std::string build_command;     ///< run in the sandbox, with the patch and without; empty: none
  bool force = false;            ///< write into a folder that is not empty, and a patch that makes the program slower
  bool no_measure = false;       ///< do not measure the gain in the user's own build
  std::optional<scaffold::FlagsBy> form{};  ///< of the patch; none: the first that keeps the gain and builds
  DeviceFlags device;
};

/// Progress callbacks.
struct BestPorts {
  std::function<void(const std::string&)> say;  ///< what was found and written, a line each
  /// Does work that may take a minute; nothing is said meanwhile.
  std::function<void(const std::string& step, const std::function<void()>& work)> during;
};

/// Writes the winners as tasks whose baselines they are, and one patch of the users' files where all the tasks have an
/// [entry]. @error already_exists: the folder is not empty; unsupported: a file cannot take its winner; cancelled; what
/// is read and written.
base::Result<void> write_winners(const Shell& shell, const BestOptions& options, const BestPorts& ports,
                                 const std::vector<Winner>& winners);

}  // namespace accelopt::app
