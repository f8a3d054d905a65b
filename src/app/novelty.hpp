// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "recipes/reach.hpp"
#include "report/run_story.hpp"

namespace accelopt::app {

/// Which steps of a run's winner no recipe could have made: a step is within reach of the recipes if they made it, or
/// if a route of up to four of them, with the parameters that they propose, leads from its parent to the same tokens
/// (recipes::route_between). An upper bound of what is new: a longer route, or other parameters, count as beyond. None:
/// the run has no winner. @error unavailable: libclang cannot be loaded.
base::Result<std::optional<report::Novelty>> novelty_of(const report::RunStory& story,
                                                        const recipes::ReachLimits& limits = {});

/// The run's story with the novelty of its winner, where that can be found out here. @error as read_run_story.
base::Result<report::RunStory> read_story_with_novelty(const std::filesystem::path& workspace, const std::string& name);

}  // namespace accelopt::app
