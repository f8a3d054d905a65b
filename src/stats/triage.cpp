// SPDX-License-Identifier: Apache-2.0
#include "stats/triage.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/result.hpp"

namespace accelopt::stats {
namespace {

double standard_normal_quantile(double p) {
  constexpr double kManyDegrees = 1e6;
  return student_quantile(p, kManyDegrees);
}

/// Whether the race, if it goes on as it has gone so far, will hardly be certain of a gain or of a loss by its last
/// look: the estimate still moves by what the blocks to come add, and the interval narrows with the root of their
/// number.
bool comes_to_nothing(const Interval& interval, std::size_t blocks, const TriageRules& rules) {
  const int last = rules.looks.back();
  if (blocks < static_cast<std::size_t>(rules.hope_from) || blocks >= static_cast<std::size_t>(last)) return false;
  const double done = static_cast<double>(blocks) / last;
  const double reach = (interval.high - interval.low) / 2;
  const double critical = standard_normal_quantile(1 - rules.alpha / static_cast<double>(2 * rules.looks.size()));
  const double moves = reach / critical * std::sqrt(1 - done);
  const double last_reach = reach * std::sqrt(done);
  const double best = interval.estimate + standard_normal_quantile(1 - rules.least_hope) * moves;
  const double worst = interval.estimate - standard_normal_quantile(1 - rules.least_fear) * moves;
  return best < std::log1p(rules.least_gain) + last_reach && worst > -last_reach;
}

bool level(const Interval& interval, const TriageRules& rules) {
  return interval.low > -std::log1p(rules.tie_within) && interval.high < std::log1p(rules.tie_within);
}

/// What the first look over exactly these samples would say; running when it says nothing.
TriageDecision look(std::span<const double> samples, const TriageRules& rules) {
  TriageDecision decision;
  decision.blocks = static_cast<int>(samples.size());
  decision.log_ratio = interval_of(samples, rules.alpha / static_cast<double>(rules.looks.size()), rules.samples);
  const Interval& interval = decision.log_ratio;
  const auto clear = static_cast<std::size_t>(rules.clear_blocks);
  const bool clearly_slower =
      samples.size() >= clear && std::all_of(samples.begin(), samples.begin() + rules.clear_blocks,
                                             [&](double sample) { return sample < -std::log1p(rules.clear_loss); });
  const bool clearly_faster =
      samples.size() >= clear && std::all_of(samples.begin(), samples.begin() + rules.clear_blocks,
                                             [&](double sample) { return sample > std::log1p(rules.clear_gain); });
  const bool worth_it = interval.low > std::log1p(rules.least_gain);
  // What looks slower than a tie races on: SLOWER is near, and says more.
  const bool looks_level = interval.estimate > -std::log1p(rules.tie_within);
  const bool futile = looks_level && (interval.high < std::log1p(rules.hopeless_gain) ||
                                      (interval.high - interval.low < rules.narrow && !worth_it));
  const bool slower = interval.high < (rules.samples == Samples::modelled ? -std::log1p(rules.least_gain) : 0.0);
  if (slower || clearly_slower) {
    decision.verdict = RaceVerdict::slower;
    decision.decided_by = DecidedBy::race;
  } else if (worth_it && (clearly_faster || decision.blocks >= rules.faster_from)) {
    decision.verdict = RaceVerdict::faster;
    decision.decided_by = DecidedBy::race;
  } else if (futile) {
    decision.verdict = RaceVerdict::tie;
    decision.decided_by = DecidedBy::futility;
  } else if (looks_level && comes_to_nothing(interval, samples.size(), rules)) {
    decision.verdict = level(interval, rules) ? RaceVerdict::tie : RaceVerdict::undecided;
    decision.decided_by = DecidedBy::futility;
  }
  return decision;
}

TriageDecision cap(TriageDecision decision, const TriageRules& rules) {
  if (decision.verdict != RaceVerdict::running) return decision;
  decision.verdict = level(decision.log_ratio, rules) ? RaceVerdict::tie : RaceVerdict::undecided;
  decision.decided_by = DecidedBy::cap;
  return decision;
}

}  // namespace

TriageRules triage_rules(Samples samples) {
  TriageRules rules;
  rules.samples = samples;
  if (samples == Samples::noisy) return rules;
  rules.looks = {blocks_that_decide(samples)};
  rules.faster_from = rules.looks.front();
  if (samples == Samples::exact) return rules;
  rules.least_gain = kLeastModelledGain;
  rules.tie_within = kWidestRatio;  // what a model cannot tell is a tie
  return rules;
}

TriageDecision decide_triage(std::span<const double> log_ratios, const TriageRules& rules, Clock clock) {
  ACCELOPT_ASSERT(!rules.looks.empty() && std::is_sorted(rules.looks.begin(), rules.looks.end()),
                  "the looks of a race are ascending");
  for (const int blocks : rules.looks) {
    if (static_cast<std::size_t>(blocks) > log_ratios.size()) break;
    TriageDecision decision = look(log_ratios.first(static_cast<std::size_t>(blocks)), rules);
    if (blocks == rules.looks.back()) decision = cap(decision, rules);
    if (decision.verdict != RaceVerdict::running) return decision;
  }
  TriageDecision now = look(log_ratios, rules);
  if (clock == Clock::expired) return cap(now, rules);
  now.verdict = RaceVerdict::running;
  now.decided_by = DecidedBy::none;
  return now;
}

Triage::Triage(TriageRules rules) : rules_(std::move(rules)) {}

const TriageDecision& Triage::add(double log_ratio) {
  ACCELOPT_ASSERT(std::isfinite(log_ratio), "a block's log-ratio is finite");
  if (decided()) return decision_;
  samples_.push_back(log_ratio);
  const int blocks = static_cast<int>(samples_.size());
  // The looks before this one said nothing, or there would be no more blocks.
  if (std::binary_search(rules_.looks.begin(), rules_.looks.end(), blocks)) {
    decision_ = look(samples_, rules_);
    if (blocks == rules_.looks.back()) decision_ = cap(decision_, rules_);
  }
  return decision_;
}

bool Triage::promising() const {
  if (samples_.empty()) return false;
  const double estimate = decision_.blocks > 0 ? decision_.log_ratio.estimate : median(samples_);
  return estimate > std::log1p(rules_.hopeless_gain);
}

const TriageDecision& Triage::expire() {
  if (!decided()) decision_ = decide_triage(samples_, rules_, Clock::expired);
  return decision_;
}

}  // namespace accelopt::stats
