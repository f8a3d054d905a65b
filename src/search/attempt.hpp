// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "evaluation/judge.hpp"
#include "model/events.hpp"
#include "search/asker.hpp"
#include "search/budget.hpp"
#include "search/candidate.hpp"
#include "search/flow.hpp"
#include "search/measurer.hpp"

namespace accelopt::search {

/// The first answers of an iteration's attempts, by place in the order of identity: lets an attempt know, before it
/// pays for a fix, whether an earlier one gave the very same solution.
class FirstAnswers {
 public:
  /// To be called exactly once for each attempt; an empty id: it had no answer.
  void announce(const model::Identity& attempt, const std::string& source_id);
  /// Whether an attempt of the same parent that comes before this one by identity is known to have given this source.
  /// Waits until one is, or all of those, `before` in number, have announced theirs, but no longer than `patience`.
  bool given_before(const model::Identity& attempt, const std::string& source_id, int before,
                    std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<model::Identity, std::string> answers_;
};

/// When to stop: `wind_down` begins nothing new, `abort` also breaks off what is being measured.
struct Stops {
  std::stop_token wind_down;
  std::stop_token abort;
};

/// What all attempts of one iteration share. Everything outlives them.
struct AttemptShared {
  const model::Task& task;
  const Candidate& best;  ///< of the beam
  Asker& asker;
  Measurer& measurer;
  Budget& budget;
  model::EventSink& events;
  FirstAnswers& first_answers;
  Flow& flow;
  const evaluation::KnownEvaluations& known_sources;       ///< of earlier iterations
  const evaluation::KnownEvaluations& known_machine_code;  ///< likewise
  int attempts = 1;                                        ///< K
  int fixes = 0;                                           ///< F
  Stops stops;
};

/// One try of the executor at a plan, with the fixes that follow: a straight line. `seat` is where it stands in the
/// iteration's flow. Errors are the run's: the journal or the device failed, or a key was refused. An ending run or
/// budget gives an outcome without a candidate.
base::Result<AttemptOutcome> run_attempt(AttemptShared& shared, Flow::Seat& seat, const agents::Context& context,
                                         const Candidate& parent, const model::Plan& plan);

}  // namespace accelopt::search
