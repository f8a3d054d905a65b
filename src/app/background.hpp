// SPDX-License-Identifier: Apache-2.0
// This program's own commands as processes that outlive the one that starts them: runs that nobody waits for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::app {

/// A command in the background. What it writes lies in files beside `stem`: STEM.out, STEM.err; its process in
/// STEM.pid; STEM.exit is locked while it goes on, and holds its exit code afterwards.
struct BackgroundCommand {
  std::vector<std::string> words;  ///< "eval", "my_task", "--json"
  std::filesystem::path stem;      ///< its folder is made
  std::filesystem::path folder;    ///< where it runs; empty: here
};

/// Starts this program in a session of its own, with nothing to read. It inherits the environment, and no signal meant
/// for this process reaches it. @error io, exhausted: no process or no files could be had.
base::Result<void> start_in_background(const Shell& shell, const BackgroundCommand& command);

/// The exit code of a command that was started so; none: it goes on, or nobody has begun it. @error unavailable: it
/// ended without reporting a result.
base::Result<std::optional<int>> exit_of_background(const std::filesystem::path& stem);
/// Whether such a command was started and has not ended.
bool goes_on_in_background(const std::filesystem::path& stem);

/// The stem of the command that leaves files of that name; empty: none does.
std::filesystem::path stem_of_background_file(const std::filesystem::path& file);

/// Where a run that nobody waits for writes: events as JSON lines in .out, messages in .err.
std::filesystem::path background_log(const std::filesystem::path& workspace, const std::string& run);

/// Enters a run with its estimate, and has another process carry it out. @error as begin_run and start_in_background:
/// then no run is left.
base::Result<journal::RunInfo> start_run_in_background(const Shell& shell, journal::Journal& journal,
                                                       const NewRun& begun);

/// Has another process continue a run. @error unavailable: a process works on it already; as start_in_background.
base::Result<void> resume_in_background(const Shell& shell, const std::filesystem::path& workspace,
                                        const std::string& run);

/// The last messages of such a run's process; empty: none. Long ones are cut.
std::string last_words(const std::filesystem::path& workspace, const std::string& run);

}  // namespace accelopt::app
