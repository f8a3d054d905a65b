// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/control.hpp"
#include "journal/journal.hpp"

namespace accelopt::app {

/// How a run stands, by what its journal says and whether the process that works on it still does.
struct RunState {
  model::RunStatus status = model::RunStatus::running;  ///< as the journal has it, or dead
  std::optional<journal::Session> session;              ///< the last one
  journal::Alive alive = journal::Alive::no;
};
base::Result<RunState> state_of(journal::Control& control, const std::string& run);

/// The named run, its status as RunState's. @error as Journal::find_run and open_control.
base::Result<journal::RunInfo> find_run(journal::Journal& journal, const std::string& name);

/// A run and how it stands.
struct ListedRun {
  journal::RunInfo info;
  model::RunStatus status;  ///< as RunState's
};
/// The line of docs/json.md.
base::Json to_json(const ListedRun& run);
/// All runs of a workspace, newest first. @error as open_workspace.
base::Result<std::vector<ListedRun>> list_runs(const std::filesystem::path& workspace);

/// The run that a command is about: the named one; with no name the one that goes on, else the last.
/// @error not_found; invalid_argument: several go on, or fit the name; the message lists them.
base::Result<journal::RunInfo> pick_run(journal::Journal& journal, journal::Control& control, const std::string& name);

/// "run X is dead: process 12 ended without reporting a result 3 min ago; continue it with: accelopt resume X".
std::string death_notice(const std::string& run, const RunState& state);

}  // namespace accelopt::app
