// SPDX-License-Identifier: Apache-2.0
// Lines of the decision log: nothing in them depends on time or on the order of arrival.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "memory/queue.hpp"
#include "search/candidate.hpp"
#include "search/finalist_review.hpp"
#include "search/learning.hpp"

namespace accelopt::search {

/// What an iteration came to.
struct IterationDecision {
  int iteration = 0;
  const std::vector<AttemptOutcome>& outcomes;
  const std::vector<Candidate>& beam;       ///< that goes on
  const std::vector<memory::Queue>& shown;  ///< to the iteration's planners
  const Lessons& lessons;
  const memory::Queue& memory;
  const std::vector<std::string>& incumbent;
};
base::Json decision_line(const IterationDecision& decision);
base::Json decision_line(const FinalistReview& review);

}  // namespace accelopt::search
