// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "report/ablation.hpp"

namespace accelopt::app {

/// Which steps of a run's winner no recipe could have made: a step is within reach of the recipes if they made it, or
/// if one of them, applied to its parent at some place with the parameters that it proposes there, gives the same
/// tokens. An upper bound of what is new: two recipes in a row, or one with other parameters, count as beyond. None:
/// the run has no winner. @error as read_run_story; unavailable: libclang cannot be loaded.
base::Result<std::optional<report::Novelty>> novelty_of(const std::filesystem::path& workspace, const std::string& run);

}  // namespace accelopt::app
