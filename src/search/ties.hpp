// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "search/candidate.hpp"

namespace accelopt::search {

/// The kernels that were as fast as what they were made from: of each parent the fastest one of its last round. That
/// one is worth a profile: what a change did not touch tells a planner where the time is not. Used by one thread at a
/// time.
class Ties {
 public:
  struct Tie {
    agents::TriedPlan plan;  ///< as it stands in the list of tried plans
    model::Kernel kernel;
    model::Profile before;  ///< of the parent
    int iteration = 0;
    double speedup = 0;
  };

  /// Takes note of a tie; of anything else nothing. @param outcome_text as it stands in the list of tried plans.
  void add(const AttemptOutcome& outcome, const std::string& outcome_text, const Candidate& parent);

  /// What was tried on the candidate, or else on the one that it was made from; nullptr where nothing tied.
  [[nodiscard]] const Tie* beside(const Candidate& candidate) const;

 private:
  std::map<std::string, Tie> by_parent_;  ///< by source id
};

}  // namespace accelopt::search
