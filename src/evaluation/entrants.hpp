// SPDX-License-Identifier: Apache-2.0
// Which candidates of an iteration enter its play-off: pure decisions, which a search makes, and the executor of a
// bundle in the search's absence.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/evaluation.hpp"

namespace accelopt::evaluation {

/// An attempt as it was raced against its parent.
struct RacedAttempt {
  int parent = 0;  ///< place in the beam
  int plan = 0;
  std::string source_id;
  std::string machine_code_id;                    ///< empty: it did not build
  const model::Evaluation* evaluation = nullptr;  ///< none: it has none
  bool duplicate = false;                         ///< equal to a solution that was known already
};

/// Of equal programs of one parent the first is the original, and the others become duplicates.
void mark_duplicates(std::vector<RacedAttempt>& attempts);

/// Each (parent, plan) branch's best attempt: the fastest if any is faster than the parent, else the slowest measured
/// one. Branches without a measured attempt, or with duplicates alone, have none. `attempts` in order of identity;
/// gives indices into it.
std::vector<std::size_t> representatives(const std::vector<RacedAttempt>& attempts);

/// Faster than its parent with certainty, or probably so and worth another look: a place in the play-off.
bool kept_for_playoff(const model::Evaluation& triage);

/// The branches' representatives that are worth a place in the play-off, each machine code once; indices.
std::vector<std::size_t> new_entrants(const std::vector<RacedAttempt>& attempts);

/// Whether a solution of such a status goes to the fixer, while fixes are left.
bool can_be_fixed(model::Status status);

}  // namespace accelopt::evaluation
