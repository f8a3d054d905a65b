// SPDX-License-Identifier: Apache-2.0
// The candidates of a run in a line each, for whoever lists thousands of them and follows what is added.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/events.hpp"

namespace accelopt::app {

/// What the events after some number told of a run.
struct RunOutline {
  std::string run;
  bool anew = false;       ///< a session began meanwhile and tells all of the run again: forget what was told before
  std::int64_t after = 0;  ///< the last event's number, to go on from
  std::vector<model::AttemptMoved> attempts;  ///< how each of them stands, in order of the first word of it
  std::vector<model::Selected> rounds;
};

/// @error as Journal::find_run.
base::Result<RunOutline> read_outline(const std::filesystem::path& workspace, const std::string& run,
                                      std::int64_t after);

/// The object of docs/page.md.
base::Json to_json(const RunOutline& outline);

}  // namespace accelopt::app
