// SPDX-License-Identifier: Apache-2.0
// What a search on a repository leaves behind: the winner as a commit on a branch of its own, and as an experience.
#pragma once

#include <string>

#include "app/refactor.hpp"
#include "journal/journal.hpp"
#include "search/result.hpp"

namespace accelopt::app {

/// Of a run that improved a repository's code: makes the commit, unless the run has made it before it was cut off, and
/// stores what was learned. Says both in the result.
/// @error io, already_exists: the commit cannot be made; corrupt: the confirmation does not say what was found.
base::Result<void> keep_refactoring(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                                    const std::string& knowledge, search::RunResult& result);

}  // namespace accelopt::app
