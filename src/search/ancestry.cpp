// SPDX-License-Identifier: Apache-2.0
#include "search/ancestry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace accelopt::search {

namespace {

/// Steps of a lineage that are told, the latest ones.
constexpr std::size_t kMostSteps = 12;

bool is_baseline(const Candidate& candidate) {
  return candidate.parent_source_id.empty();
}

std::string speedup_of(const Candidate& candidate) {
  return fmt::format("{:.2f}x", candidate.score.estimate);
}

}  // namespace

void Ancestry::add(const AttemptOutcome& outcome, const std::string& outcome_text) {
  if (!outcome.candidate || outcome.candidate->evaluation.status != model::Status::passed) return;
  const Candidate& candidate = *outcome.candidate;
  origins_.try_emplace(candidate.kernel.id(),
                       Origin{{candidate.plan.title, outcome_text}, outcome.plan.title, candidate.parent_source_id});
}

std::vector<agents::Lineage> Ancestry::lineages(const std::vector<Candidate>& beam, const TriedPlans& tried) const {
  std::vector<agents::Lineage> all;
  for (std::size_t place = 0; place < beam.size(); ++place) {
    const Candidate& candidate = beam[place];
    agents::Lineage lineage;
    if (!is_baseline(candidate)) lineage.standing = speedup_of(candidate);
    auto origin = origins_.find(candidate.kernel.id());
    if (origin != origins_.end()) {
      if (const auto beside = tried.find(origin->second.parent); beside != tried.end()) {
        std::vector<agents::TriedPlan> siblings;
        std::ranges::copy_if(beside->second, std::back_inserter(siblings),
                             [&](const agents::TriedPlan& plan) { return plan.title != origin->second.planned; });
        lineage.siblings = agents::TriedList(std::move(siblings));
      }
    }
    for (; origin != origins_.end() && lineage.steps.size() < kMostSteps; origin = origins_.find(origin->second.parent))
      lineage.steps.insert(lineage.steps.begin(), origin->second.plan);
    for (std::size_t other = 0; other < beam.size(); ++other) {
      if (other == place || beam[other].kernel.id() == candidate.kernel.id()) continue;
      lineage.beam.push_back(
          {is_baseline(beam[other]) ? "the baseline" : beam[other].plan.title, speedup_of(beam[other])});
    }
    all.push_back(std::move(lineage));
  }
  return all;
}

}  // namespace accelopt::search
