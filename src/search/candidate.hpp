// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "model/evaluation.hpp"
#include "model/experience.hpp"
#include "model/identity.hpp"
#include "model/kernel.hpp"

namespace accelopt::search {

/// A solution that the search knows.
struct Candidate {
  model::Identity identity;  ///< all -1: the baseline
  model::Kernel kernel;
  std::string machine_code_id;
  model::Plan plan;              ///< empty for the baseline
  std::string parent_source_id;  ///< empty for the baseline
  model::Evaluation evaluation;  ///< triage against its parent; for the baseline its own
  model::Interval score;  ///< baseline time / its time, from the last play-off it was in; exactly 1 for the baseline
  std::vector<model::WorkloadTiming> workloads;  ///< from that play-off
  std::optional<model::Kernel> open{};  ///< as it was written, where it left values open that tuning has chosen
};

/// What became of one attempt.
struct AttemptOutcome {
  model::Identity identity;  ///< of the last solution
  int parent = 0;            ///< place in the beam
  model::Plan plan;
  std::optional<Candidate> candidate;         ///< none: no answer came, or the run was ending
  std::string note;                           ///< why there is none
  std::optional<Candidate> broken{};          ///< the failed first answer, where a fix of it is `candidate` and works
  std::vector<model::Status> failed_fixes{};  ///< of fixes of `broken` before the one that works
  /// The first answer, when it failed and went to the fixer before all earlier attempts had given theirs.
  std::optional<Candidate> first_failure{};
  bool put_off = false;  ///< it goes on when somebody elsewhere has answered
  /// The answer whose measurement was put off; none where a question was.
  std::optional<model::Kernel> unmeasured{};
  bool fixable = false;    ///< of `unmeasured`: if it fails, it goes to the fixer
  bool duplicate = false;  ///< equal to a solution that was known already: neither represents nor teaches
};

}  // namespace accelopt::search
