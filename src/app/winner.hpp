// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::app {

/// The confirmed winner of a run, such as a build without directives can take: tuned values are macros. @error
/// not_found: the run has none; the message says why and what to do.
base::Result<model::Solution> winner_of(const journal::RunInfo& run);

}  // namespace accelopt::app
