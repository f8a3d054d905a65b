// SPDX-License-Identifier: Apache-2.0
// How far a run is, from its record: for whoever asks now and then in place of following its events.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/run_state.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "journal/control.hpp"
#include "model/events.hpp"

namespace accelopt::app {

struct RunProgress {
  std::string run;
  std::string task;
  std::string created;  ///< UTC, ISO 8601
  RunState state;
  std::string device;
  int iteration = 0;   ///< that was begun last, from 1; 0: none yet
  int iterations = 0;  ///< at most
  std::optional<model::BeamMember> best;
  std::map<std::string, int> attempts;  ///< that are done, by status
  std::string doing;                    ///< what was begun last, in words
  std::vector<std::string> notes;       ///< the last few
  std::string refused;                  ///< the last answer that could not be used, and why; empty: there was none
  journal::Spent spent;
  std::optional<base::Json> result;  ///< of docs/json.md, once there is one
  bool closing = false;              ///< what it came to is on record, and its process is not gone yet
  std::string trouble;               ///< why the run is dead or failed, and what to do; else empty

  /// Whether no process works on it or will by itself: it can be resumed.
  [[nodiscard]] bool ended() const;
};

/// The run of that name, as pick_run finds it. @error as WatchedRun::open.
base::Result<RunProgress> read_progress(const std::filesystem::path& workspace, const std::string& name);

/// The object of docs/mcp.md.
base::Json to_json(const RunProgress& progress);

}  // namespace accelopt::app
