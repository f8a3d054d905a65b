// SPDX-License-Identifier: Apache-2.0
#include "search/ties.hpp"

namespace accelopt::search {

void Ties::add(const AttemptOutcome& outcome, const std::string& outcome_text, const Candidate& parent) {
  if (!outcome.candidate || outcome.duplicate || outcome.plan.title.empty() || !parent.evaluation.profile) return;
  const model::Evaluation& measured = outcome.candidate->evaluation;
  const bool tied = measured.status == model::Status::passed && measured.verdict == model::Verdict::tie;
  if (!tied || !measured.ratio || outcome.candidate->kernel.id() == parent.kernel.id()) return;
  Tie& best = by_parent_[parent.kernel.id()];
  const int iteration = outcome.identity.iteration;
  if (best.iteration == iteration && best.speedup >= measured.ratio->estimate) return;
  best = {{outcome.plan.title, outcome_text},
          outcome.candidate->kernel,
          *parent.evaluation.profile,
          iteration,
          measured.ratio->estimate};
}

const Ties::Tie* Ties::beside(const Candidate& candidate) const {
  for (const std::string& parent : {candidate.kernel.id(), candidate.parent_source_id}) {
    const auto found = by_parent_.find(parent);
    if (found != by_parent_.end() && found->second.kernel.id() != candidate.kernel.id()) return &found->second;
  }
  return nullptr;
}

}  // namespace accelopt::search
