// SPDX-License-Identifier: Apache-2.0
#include "evaluation/entrants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace accelopt::evaluation {

using model::Status;
using model::Verdict;

namespace {

bool measured(const RacedAttempt& attempt) {
  return attempt.evaluation != nullptr && attempt.evaluation->status == Status::passed && attempt.evaluation->ratio;
}

double effect(const RacedAttempt& attempt) {
  return attempt.evaluation->ratio->estimate;
}

}  // namespace

void mark_duplicates(std::vector<RacedAttempt>& attempts) {
  std::set<std::pair<int, std::string>> seen;
  for (RacedAttempt& attempt : attempts) {
    if (attempt.evaluation == nullptr || attempt.duplicate) continue;
    const bool fresh_source = seen.insert({attempt.parent, attempt.source_id}).second;
    const bool fresh_code =
        attempt.machine_code_id.empty() || seen.insert({attempt.parent, attempt.machine_code_id}).second;
    if (!fresh_source || !fresh_code) attempt.duplicate = true;
  }
}

std::vector<std::size_t> representatives(const std::vector<RacedAttempt>& attempts) {
  std::map<std::pair<int, int>, std::vector<std::size_t>> branches;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (measured(attempts[i]) && !attempts[i].duplicate) branches[{attempts[i].parent, attempts[i].plan}].push_back(i);
  }
  std::vector<std::size_t> chosen;
  for (const auto& [branch, members] : branches) {
    // The first of equals wins: members are in order of identity.
    const auto by_effect = [&](std::size_t a, std::size_t b) { return effect(attempts[a]) < effect(attempts[b]); };
    const auto by_effect_reversed = [&](std::size_t a, std::size_t b) { return by_effect(b, a); };
    const std::size_t fastest = *std::min_element(members.begin(), members.end(), by_effect_reversed);
    const std::size_t slowest = *std::min_element(members.begin(), members.end(), by_effect);
    chosen.push_back(effect(attempts[fastest]) > 1 ? fastest : slowest);
  }
  return chosen;
}

bool kept_for_playoff(const model::Evaluation& triage) {
  if (triage.status != Status::passed || !triage.ratio) return false;
  const bool given_up = triage.decided_by == model::DecidedBy::futility;
  return triage.verdict == Verdict::faster ||
         (triage.verdict == Verdict::undecided && !given_up && triage.ratio->estimate > 1);
}

std::vector<std::size_t> new_entrants(const std::vector<RacedAttempt>& attempts) {
  std::vector<std::size_t> out;
  std::set<std::string> machine_code;
  for (const std::size_t i : representatives(attempts)) {
    if (kept_for_playoff(*attempts[i].evaluation) && machine_code.insert(attempts[i].machine_code_id).second)
      out.push_back(i);
  }
  return out;
}

bool can_be_fixed(Status status) {
  return status == Status::compile_error || status == Status::runtime_error || status == Status::timeout ||
         status == Status::incorrect_shape || status == Status::incorrect_dtype ||
         status == Status::incorrect_numerical;
}

}  // namespace accelopt::evaluation
