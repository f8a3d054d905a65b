// SPDX-License-Identifier: Apache-2.0
// The plots of one run, each with the table of its numbers. Empty where the record has nothing to plot.
#pragma once

#include "report/html/markup.hpp"
#include "report/run_story.hpp"

namespace accelopt::report::html {

/// Best so far by the play-offs and, at the end, by the confirmation; every raced candidate beside it.
Markup convergence_by_evaluations(const RunStory& story);
/// The same against dollars where every price is known, else against tokens.
Markup convergence_by_cost(const RunStory& story);
/// What the confirmation measured on each workload.
Markup speedup_by_workload(const RunStory& story);
/// The raced workloads' share of the device's measured peaks: baseline, candidates, winner.
Markup roofline_shares(const RunStory& story);
/// What went on when.
Markup timeline_rows(const RunStory& story);
/// Tokens by role.
Markup tokens_by_role(const RunStory& story);
/// What each symbol of a plot stands for.
Markup legend();

/// "28.5x [27.9, 29.2]", or "-".
std::string ratio_text(const std::optional<model::Interval>& ratio);

}  // namespace accelopt::report::html
