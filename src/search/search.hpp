// SPDX-License-Identifier: Apache-2.0
// The search over one task. The loop itself is `Search::run` in search.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "agents/roles.hpp"
#include "evaluation/evaluator.hpp"
#include "evaluation/lookahead.hpp"
#include "journal/journal.hpp"
#include "memory/knowledge.hpp"
#include "model/events.hpp"
#include "model/task.hpp"
#include "search/attempt.hpp"
#include "search/finalist_review.hpp"
#include "search/flow.hpp"
#include "search/hints.hpp"
#include "search/result.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// One run: what it is about and how it searches. Equal requests with equal answers and measurements decide equally.
struct RunRequest {
  std::string run;  ///< its id in the journal
  model::Task task;
  SearchSettings settings;
  evaluation::MeasureSettings measure;
  std::uint64_t seed = 0;
  Missing missing = Missing::do_it;        ///< leave_it: replay from the record alone
  Schedule schedule = Schedule::pipeline;  ///< what may overlap; decides nothing
  FlowLimits flow{};
};

/// What a run works with. Everything outlives it.
struct RunPorts {
  agents::Team team;
  evaluation::Evaluator* evaluator = nullptr;  ///< may be null in a replay
  journal::Journal* journal = nullptr;
  model::EventSink* events = nullptr;
  Budget* budget = nullptr;  ///< that agents and evaluator share with the search; null: one of its own
  /// Of an evaluator that puts its requests off: told what will be asked if all goes well; may be null.
  evaluation::Lookahead* lookahead = nullptr;
  /// What outlives runs; null: the run learns for itself alone.
  memory::Knowledge* knowledge = nullptr;
  FinalistReviewer* reviewer = nullptr;  ///< of a critical search, which has developers; may be null in a replay
  HintSource hints{};                    ///< what the user tells the run while it goes on; empty: nobody can
};

/// What a run came to, and how much of what it asked was on record.
struct RunReport {
  RunResult result;
  int steps_found = 0;
  int steps_absent = 0;
  int questions_put_off = 0;                   ///< of `waiting`: those that somebody elsewhere has to answer
  base::Json decisions = base::Json::array();  ///< the log: one entry an iteration, one a confirmation
};

/// Searches from the record on: steps that the journal holds are not done again, so the same call starts and resumes a
/// run. The run must exist in the journal. Ending by a budget or `stops` is a result, not an error.
/// @error invalid_argument: the baseline fails (the message says where); unauthenticated, quota_exceeded, unavailable:
/// no model or device;
///        exhausted, permission_denied, io: the journal cannot be written. All of them leave the run resumable.
base::Result<RunReport> run_search(const RunRequest& request, const RunPorts& ports, const Stops& stops);

}  // namespace accelopt::search
