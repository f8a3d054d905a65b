// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/html/markup.hpp"
#include "report/run_story.hpp"

namespace accelopt::report::html {

/// The candidates of a run as a tree: a column an iteration, an edge to each parent, the winner's lineage drawn thick.
Markup candidate_tree(const RunStory& story);

}  // namespace accelopt::report::html
