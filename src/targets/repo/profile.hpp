// SPDX-License-Identifier: Apache-2.0
// What a planner is told of how a change's time is spent.
#pragma once

#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "refactor/checker.hpp"

namespace accelopt::targets::repo {

/// Times by size and how they grow, peak memory, start-up; of Python the functions that the time goes into. Says
/// nothing of what is held out. @error as refactor::Checker.
base::Result<model::Profile> profile_of(refactor::Checker& checker, const refactor::CheckResult& change);

}  // namespace accelopt::targets::repo
