// SPDX-License-Identifier: Apache-2.0
// A hint of the user's, or of an agent's, to the planners of a run that goes on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "search/hints.hpp"

namespace accelopt::app {

/// Longest hint, bytes: a prompt has room for a few of them.
inline constexpr std::size_t kMostHintBytes = 2000;

/// Gives the next round's planners of a run a hint; the run's id. A run that was interrupted hears of it once it is
/// continued. @error invalid_argument: the hint is blank or too long, or the run has ended for good; unsupported:
/// recipes play its roles; as pick_run.
base::Result<std::string> steer(const Shell& shell, const std::filesystem::path& workspace, const std::string& name,
                                const std::string& hint);

/// What search::RunPorts::hints asks. Empty where the journal is in memory. @error as journal::open_control.
base::Result<search::HintSource> hints_of_run(const std::filesystem::path& workspace, const std::string& run);

}  // namespace accelopt::app
