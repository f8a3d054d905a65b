// SPDX-License-Identifier: Apache-2.0
#include "app/run_state.hpp"

#include <algorithm>

#include "app/workspace.hpp"
#include "base/text.hpp"
#include "report/format.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::Result;
using journal::Alive;
using model::RunStatus;

Result<RunState> state_of(journal::Control& control, const std::string& run) {
  RunState state;
  TRY_ASSIGN(state.status, control.status(run));
  TRY_ASSIGN(const auto sessions, control.sessions(run));
  if (sessions.empty()) return state;
  state.session = sessions.back();
  state.alive = journal::is_alive(*state.session);
  if (state.status != RunStatus::running || state.alive != Alive::no) return state;
  // It may have ended between the two questions, and then it says how.
  TRY_ASSIGN(state.status, control.status(run));
  if (state.status == RunStatus::running) state.status = RunStatus::dead;
  return state;
}

Result<journal::RunInfo> find_run(journal::Journal& journal, const std::string& name) {
  TRY_ASSIGN(journal::RunInfo run, journal.find_run(name));
  if (run.status != RunStatus::running || journal.folder().empty()) return run;
  TRY_ASSIGN(const auto control, journal::open_control(journal.folder(), journal::Access::read_only));
  TRY_ASSIGN(const RunState state, state_of(*control, run.id));
  if (state.status == RunStatus::running) return run;
  if (state.status != RunStatus::dead) return journal.find_run(run.id);  // it has ended since, with its result
  run.status = RunStatus::dead;
  return run;
}

base::Json to_json(const ListedRun& run) {
  return {{"type", "run"},
          {"schema", 1},
          {"run", run.info.id},
          {"task", run.info.task_name},
          {"created", run.info.created},
          {"status", to_string(run.status)},
          {"result", run.info.result ? *run.info.result : base::Json()}};
}

Result<std::vector<ListedRun>> list_runs(const std::filesystem::path& workspace) {
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto runs, journal->list_runs());
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_only));
  std::vector<ListedRun> listed;
  for (const journal::RunInfo& run : runs) {
    TRY_ASSIGN(RunState state, state_of(*control, run.id));
    listed.push_back({run, state.status});
  }
  return listed;
}

Result<journal::RunInfo> pick_run(journal::Journal& journal, journal::Control& control, const std::string& name) {
  if (!name.empty()) return journal.find_run(name);
  TRY_ASSIGN(const auto runs, journal.list_runs());
  std::vector<std::string> going;
  for (const journal::RunInfo& run : runs) {
    if (run.status != RunStatus::running) continue;
    TRY_ASSIGN(const RunState state, state_of(control, run.id));
    if (state.alive != Alive::no) going.push_back(run.id);
  }
  if (going.size() <= 1) return journal.find_run(going.empty() ? "last" : going.front());
  return base::fail(ErrorCode::invalid_argument,
                    std::to_string(going.size()) + " runs go on here: " + base::joined(going, ", ") + "; say which");
}

std::string death_notice(const std::string& run, const RunState& state) {
  std::string text = "run " + run + " is dead: ";
  if (state.session) {
    const double seconds = static_cast<double>(journal::unix_ms() - state.session->beat_ms) / 1e3;
    text += journal::process_of(*state.session) +
            (state.session->ended ? " gave it up " : " ended without reporting a result ") +
            report::format_seconds(std::max(seconds, 0.0)) + " ago";
  } else {
    text += "no process works on it";
  }
  return text + "; what was done is kept, continue it with: accelopt resume " + run;
}

}  // namespace accelopt::app
