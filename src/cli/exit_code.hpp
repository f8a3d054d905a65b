// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/exit.hpp"
#include "journal/journal.hpp"
#include "search/search.hpp"

namespace accelopt::cli {

/// The exit code that goes with an outcome.
Exit exit_of(search::RunOutcome outcome);

/// The exit code that `run` had, or would have had, with this end.
Exit exit_of(const journal::RunInfo& run);

}  // namespace accelopt::cli
