// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "report/run_story.hpp"

namespace accelopt::app {

/// What a run asked, tried, measured and learned; of a run that goes on, so far. By full id, unique prefix, or "last".
/// @error as open_workspace and Journal::find_run.
base::Result<report::RunStory> read_run_story(const std::filesystem::path& workspace, const std::string& name);

}  // namespace accelopt::app
