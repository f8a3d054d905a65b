// SPDX-License-Identifier: Apache-2.0
// How soon a run had most of what it gained, and whether it began with what others had learned.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "journal/journal.hpp"

namespace accelopt::report {

/// The share of the final gain (speed-up - 1) that counts as most of it.
inline constexpr double kMostOfTheGain = 0.95;

struct Convergence {
  int recalled = 0;  ///< experiences that the knowledge store gave, over all recalls; over 0: the memory was warm
  /// Until the first candidate was measured whose score is at least kMostOfTheGain of the confirmed gain: builds, and
  /// seconds of the run's own clock. Nothing where no gain was confirmed.
  std::optional<int> evaluations;
  std::optional<double> seconds;
};

/// From the run's steps, in order of writing, and its result object (docs/json.md; null: it has none yet).
Convergence convergence_of(const std::vector<journal::StepRecord>& steps, const base::Json& result);

}  // namespace accelopt::report
