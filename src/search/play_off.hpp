// SPDX-License-Identifier: Apache-2.0
// The end of an iteration: parents, old finalists and new candidates side by side, and which of them go on.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/outcome.hpp"
#include "search/candidate.hpp"
#include "search/measurer.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// What the selection of one iteration works with. Everything outlives it.
struct Selecting {
  const Candidate& baseline;
  const SearchSettings& settings;
  int iteration = 0;
  const std::vector<Candidate>& beam;       ///< the iteration's parents
  const std::vector<Candidate>& finalists;  ///< so far
  Measurer& measurer;
  std::stop_token abort;
  std::map<std::string, int>& counts;  ///< of the run, by status; HELD_OUT_FAILED is counted here
};

/// What goes on.
struct Selection {
  std::vector<Candidate> beam;       ///< best first
  std::vector<Candidate> finalists;  ///< best of the last play-off, the incumbent first; never the baseline
  std::vector<std::string> notes{};  ///< of the play-off
};

/// Standard rules: parents, finalists and the branches' representatives race each other in one play-off; the best that
/// also pass the held-out workloads are the beam. With nothing new to race, beam and finalists stand.
/// @error as Measurer's; `cancelled` too where something was put off.
base::Outcome<Selection> play_off(const Selecting& selecting, const std::vector<AttemptOutcome>& outcomes);

/// Tells the measurer of the play-off that follows the measurements that the iteration waits for, unless it waits for
/// answers as well. `known_code`: of earlier iterations, sorted.
void expect_play_off(const Selecting& selecting, const std::vector<AttemptOutcome>& outcomes,
                     std::vector<std::string> known_code, evaluation::Leader leader);

/// Paper rules: latencies as recorded, parents do not compete, failures stand for their parent's code.
Selection select_as_published(const Selecting& selecting, const std::vector<AttemptOutcome>& outcomes);

}  // namespace accelopt::search
