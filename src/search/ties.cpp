// SPDX-License-Identifier: Apache-2.0
#include "search/ties.hpp"

namespace accelopt::search {

void Ties::add(const AttemptOutcome& outcome, const std::string& outcome_text, const Candidate& parent) {
  if (!outcome.candidate || outcome.duplicate || outcome.plan.title.empty() || !parent.evaluation.profile) return;
  const model::Evaluation& measured = outcome.candidate->evaluation;
  const bool tied = measured.status == model::Status::passed && measured.verdict == model::Verdict::tie;
  if (!tied || !measured.ratio || outcome.candidate->source_id == parent.source_id) return;
  Tie& best = by_parent_[parent.source_id];
  const int iteration = outcome.identity.iteration;
  if (!best.source_id.empty() && best.iteration == iteration && best.speedup >= measured.ratio->estimate) return;
  best = {{outcome.plan.title, outcome_text},
          outcome.candidate->solution,
          outcome.candidate->source_id,
          *parent.evaluation.profile,
          iteration,
          measured.ratio->estimate};
}

const Ties::Tie* Ties::beside(const Candidate& kernel) const {
  for (const std::string& parent : {kernel.source_id, kernel.parent_source_id}) {
    const auto found = by_parent_.find(parent);
    if (found != by_parent_.end() && found->second.source_id != kernel.source_id) return &found->second;
  }
  return nullptr;
}

}  // namespace accelopt::search
