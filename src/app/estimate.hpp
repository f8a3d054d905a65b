// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/run.hpp"
#include "base/result.hpp"
#include "journal/journal.hpp"
#include "refactor/checker.hpp"
#include "search/estimate.hpp"

namespace accelopt::app {

/// What a run of these settings would use: from the prompts that it would build, and from earlier runs of the workspace
/// where there are some. `history` may be null. `costs`: of a repository, what opening it showed; used where there are
/// no earlier runs. Asks nobody and measures nothing.
base::Result<search::Estimate> estimate_run(const model::Task& task, const RunSettings& settings, const Config& config,
                                            journal::Journal* history, const refactor::Costs* costs = nullptr);
/// The seconds of a search's steps on a repository, from what examining a change takes there.
void use_costs(const refactor::Costs& costs, search::EstimateFacts& facts);
/// One line: what the estimate says of time, and of what examining one change takes.
std::string describe_costs(const refactor::Costs& costs, const search::Estimate& estimate);
/// Likewise, of the check of one change: until it is found no better, or proved.
std::string describe_check(const refactor::Costs& costs);

/// The object that `estimate --json` prints and `run --json` begins with (docs/events.md).
base::Json json_line(const search::Estimate& estimate, const model::Task& task);

/// The estimate of a run goes on record once; a resumed run keeps the one that it began with.
base::Result<void> record_estimate(journal::Journal& journal, const std::string& run, const search::Estimate& estimate);
/// As it was recorded; null where there is none.
base::Result<base::Json> recorded_estimate(journal::Journal& journal, const std::string& run);

/// What was predicted beside what it was, in the estimate's order.
std::vector<search::Comparison> compare(const base::Json& estimate, const search::RunResult& result);
base::Json to_json(const std::vector<search::Comparison>& comparisons);
std::vector<search::Comparison> comparisons_of(const base::Json& json);  ///< what to_json wrote; null: none

}  // namespace accelopt::app
