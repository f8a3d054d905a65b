// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/thread_cache.hpp"
#include "memory/queue.hpp"
#include "search/ancestry.hpp"
#include "search/attempt.hpp"
#include "search/candidate.hpp"
#include "search/settings.hpp"
#include "search/ties.hpp"

namespace accelopt::search {

/// What one iteration's exploration works with. Everything outlives it.
struct Exploration {
  const model::Task& task;
  const evaluation::OpenReport& opened;
  const SearchSettings& settings;
  std::uint64_t seed = 0;
  std::string run{};  ///< its id
  int iteration = 0;
  std::string hints{};  ///< of the user, for this iteration's planners; empty: none
  const std::vector<Candidate>& beam;
  const std::vector<memory::Queue>& memory;  ///< what the planner is shown, by place in the beam
  const TriedPlans& tried;
  const std::vector<agents::Lineage>& lineages;  ///< by place in the beam
  const Ties& ties;
  const evaluation::KnownEvaluations& known_sources;
  const evaluation::KnownEvaluations& known_machine_code;
  Asker& asker;
  Measurer& measurer;
  Budget& budget;
  model::EventSink& events;
  Stops stops;
  Schedule schedule = Schedule::pipeline;
  FlowLimits flow{};
  base::ThreadCache& threads;  ///< for its attempts
};

/// Asks the planner for N plans for every beam member, in as many questions as the settings say, and the executor K
/// times for every plan, as the schedule says; judges and mends each answer. Gives the outcomes in order of identity,
/// equal solutions of one parent marked as duplicates of the first.
/// @error the first one that ends the run (run_attempt).
base::Result<std::vector<AttemptOutcome>> explore(const Exploration& exploration);

/// What a question says of the machine: its summary, and the compiler.
std::string device_line(const evaluation::DeviceInfo& device);

/// "2.31x", "INCORRECT_NUMERICAL", "no answer: ...": for the list of tried plans.
std::string outcome_text(const AttemptOutcome& outcome);

}  // namespace accelopt::search
