// SPDX-License-Identifier: Apache-2.0
// What a run cost, for people.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "model/usage.hpp"
#include "search/result.hpp"

namespace accelopt::app {

/// "$0.0123"; "unknown" where the price of any call is; "$0.0100 and 3 calls of unknown price" where it is known in
/// part.
std::string cost_text(const model::Usage& usage);

/// Calls, tokens and dollars by role, a plan, and an accepted gain; empty where nobody was asked.
std::string describe_cost(const std::map<std::string, model::Usage>& by_role, int plans, int gains);

/// What each plan used with its attempts and fixes, by the plan's identity ("i0.b1.p2"); a question for several plans
/// stands for itself ("i0.b1").
std::map<std::string, model::Usage> usage_by_plan(const std::vector<journal::StepRecord>& steps);

/// What each role used, and how many plans were answered.
struct RoleUsage {
  std::map<std::string, model::Usage> by_role;
  int plans = 0;
};
RoleUsage usage_by_role(const std::vector<journal::StepRecord>& steps);

/// What a run's result says it used becomes what is on record: the search knows of questions that ended alone.
void count_usage_on_record(search::RunResult& result, const std::vector<journal::StepRecord>& steps);

/// Of a run that was interrupted: usage and evaluations become those of all `steps` on record, of which a session that
/// still read them has met a part; counts of attempts, rounds and lessons those of the `earlier` result (null: there is
/// none) where it was further along.
void count_all_on_record(search::RunResult& result, const std::vector<journal::StepRecord>& steps,
                         const base::Json& earlier);

}  // namespace accelopt::app
