// SPDX-License-Identifier: Apache-2.0
#include "search/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace accelopt::search {

using model::Status;
using model::Verdict;

namespace {

bool measured(const AttemptOutcome& outcome) {
  return outcome.candidate && outcome.candidate->evaluation.status == Status::passed &&
         outcome.candidate->evaluation.ratio;
}

/// Known from a race against another parent: it has no ratio, and its times hold.
bool raced_elsewhere(const AttemptOutcome& outcome) {
  if (!outcome.candidate || !outcome.duplicate) return false;
  const model::Evaluation& evaluation = outcome.candidate->evaluation;
  return evaluation.status == Status::passed && !evaluation.ratio && !evaluation.opponent.empty();
}

double effect(const AttemptOutcome& outcome) {
  return outcome.candidate->evaluation.ratio->estimate;
}

}  // namespace

std::vector<evaluation::RacedAttempt> as_raced(const std::vector<AttemptOutcome>& outcomes) {
  std::vector<evaluation::RacedAttempt> out;
  for (const AttemptOutcome& outcome : outcomes) {
    evaluation::RacedAttempt& raced = out.emplace_back();
    raced.parent = outcome.parent;
    raced.plan = outcome.identity.plan;
    raced.duplicate = outcome.duplicate;
    if (!outcome.candidate) continue;
    raced.source_id = outcome.candidate->kernel.id();
    raced.machine_code_id = outcome.candidate->machine_code_id;
    raced.evaluation = &outcome.candidate->evaluation;
  }
  return out;
}

std::vector<std::size_t> representatives(const std::vector<AttemptOutcome>& outcomes) {
  return evaluation::representatives(as_raced(outcomes));
}

bool is_parents_program(const AttemptOutcome& outcome) {
  return measured(outcome) && outcome.duplicate &&
         outcome.candidate->evaluation.duplicate_of == outcome.candidate->parent_source_id;
}

namespace {

/// Everything that was measured against its parent, in order of identity, and behind it what was mended.
std::vector<TeachingPair> all_pairs(const std::vector<AttemptOutcome>& outcomes, const std::vector<std::size_t>& chosen,
                                    const SearchSettings& settings) {
  std::vector<TeachingPair> pairs;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!is_parents_program(outcomes[i]) && std::find(chosen.begin(), chosen.end(), i) == chosen.end()) continue;
    const model::Interval& ratio = *outcomes[i].candidate->evaluation.ratio;
    const bool improves = ratio.estimate >= settings.memory_positive && ratio.low > 1;
    pairs.push_back({i, improves ? model::Polarity::improves : model::Polarity::regresses});
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].broken) pairs.push_back({i, model::Polarity::mends});
  }
  return pairs;
}

}  // namespace

std::vector<TeachingPair> teaching_pairs(const std::vector<AttemptOutcome>& outcomes,
                                         const std::vector<std::size_t>& chosen, const SearchSettings& settings) {
  if (settings.memory_everything) return all_pairs(outcomes, chosen, settings);
  const bool certain = settings.rules == Rules::standard;
  std::vector<std::size_t> positive;
  std::vector<std::size_t> negative;
  for (const std::size_t i : chosen) {
    const model::Interval& ratio = *outcomes[i].candidate->evaluation.ratio;
    const bool above = certain ? ratio.estimate >= settings.memory_positive && ratio.low > 1
                               : ratio.estimate > settings.memory_positive;
    const bool below = ratio.estimate < 1 / settings.memory_negative && (!certain || ratio.high < 1);
    if (above) positive.push_back(i);
    if (below) negative.push_back(i);
  }
  std::stable_sort(positive.begin(), positive.end(),
                   [&](std::size_t a, std::size_t b) { return effect(outcomes[a]) > effect(outcomes[b]); });
  std::stable_sort(negative.begin(), negative.end(),
                   [&](std::size_t a, std::size_t b) { return effect(outcomes[a]) < effect(outcomes[b]); });
  const auto total = static_cast<std::size_t>(settings.memory_new);
  std::vector<TeachingPair> pairs;
  for (const std::size_t i : positive) {
    if (pairs.size() < total / 2) pairs.push_back({i, model::Polarity::improves});
  }
  for (const std::size_t i : negative) {
    if (pairs.size() < total) pairs.push_back({i, model::Polarity::regresses});
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].broken && pairs.size() < total) pairs.push_back({i, model::Polarity::mends});
  }
  return pairs;
}

std::vector<std::size_t> fill_beam(std::vector<Entrant> entrants, int places) {
  std::erase_if(entrants, [](const Entrant& e) { return e.parent >= 0 && e.score <= e.parent_score; });
  const auto better = [](const Entrant& a, const Entrant& b) {
    return std::tie(b.score, a.identity) < std::tie(a.score, b.identity);
  };
  std::sort(entrants.begin(), entrants.end(), better);
  std::set<int> waiting;  // parents with an eligible child and none in the beam yet
  for (const Entrant& entrant : entrants) {
    if (entrant.parent >= 0) waiting.insert(entrant.parent);
  }
  std::vector<Entrant> beam;
  while (beam.size() < static_cast<std::size_t>(places) && !entrants.empty()) {
    const auto next = std::find_if(entrants.begin(), entrants.end(), [&](const Entrant& e) {
      return e.parent < 0 || waiting.empty() || waiting.contains(e.parent);
    });
    if (next == entrants.end()) break;
    waiting.erase(next->parent);
    beam.push_back(*next);
    entrants.erase(next);
  }
  std::sort(beam.begin(), beam.end(), better);
  std::vector<std::size_t> arms;
  for (const Entrant& entrant : beam) arms.push_back(entrant.arm);
  return arms;
}

double latency_ns(const model::Evaluation& evaluation) {
  double sum = 0;
  int count = 0;
  for (const model::WorkloadTiming& workload : evaluation.workloads) {
    if (workload.role != model::Role::race) continue;
    sum += std::log(workload.time_ns);
    ++count;
  }
  if (evaluation.status != Status::passed || count == 0) return std::numeric_limits<double>::infinity();
  return std::exp(sum / count);
}

std::vector<PaperEntrant> fill_beam_as_published(const std::vector<AttemptOutcome>& outcomes, int places) {
  std::map<std::pair<int, int>, PaperEntrant> best;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const AttemptOutcome& outcome = outcomes[i];
    PaperEntrant entrant{i, outcome.parent, true, std::numeric_limits<double>::infinity()};
    if (measured(outcome) || raced_elsewhere(outcome)) {
      entrant.is_parent_code = false;
      entrant.latency_ns = latency_ns(outcome.candidate->evaluation);
    }
    const auto [place, fresh] = best.try_emplace({outcome.parent, outcome.identity.plan}, entrant);
    if (!fresh && entrant.latency_ns < place->second.latency_ns) place->second = entrant;
  }
  std::vector<PaperEntrant> sorted;
  for (const auto& [branch, entrant] : best) sorted.push_back(entrant);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const PaperEntrant& a, const PaperEntrant& b) { return a.latency_ns < b.latency_ns; });
  if (sorted.size() > static_cast<std::size_t>(places)) sorted.resize(static_cast<std::size_t>(places));
  return sorted;
}

}  // namespace accelopt::search
