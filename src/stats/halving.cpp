// SPDX-License-Identifier: Apache-2.0
#include "stats/halving.hpp"

#include <algorithm>
#include <cmath>

#include "base/result.hpp"

namespace accelopt::stats {
namespace {

constexpr std::size_t kFewestToTrim = 5;    ///< the trimmed mean cuts nothing off fewer
constexpr std::size_t kFewestToDecide = 3;  ///< of which one may be an outlier

bool all_slower(std::span<const double> own, double leader_centre, double loss) {
  return std::all_of(own.begin(), own.end(), [&](double sample) { return sample < leader_centre - std::log1p(loss); });
}

bool all_within(std::span<const double> own, double leader_centre, double margin) {
  return std::all_of(own.begin(), own.end(),
                     [&](double sample) { return std::abs(sample - leader_centre) < std::log1p(margin); });
}

}  // namespace

HalvingRules halving_rules(Samples samples) {
  HalvingRules rules;
  rules.samples = samples;
  if (samples == Samples::noisy) return rules;
  rules.rung_blocks = {1};
  rules.level_from = 1;
  return rules;
}

double robust_centre(std::span<const double> samples) {
  return samples.size() < kFewestToTrim ? median(samples) : trimmed_mean(samples);
}

Interval compare_samples(std::span<const double> own, std::span<const double> other, double alpha, Samples kind) {
  const Interval mine = interval_of(own, alpha, kind);
  const Interval its = interval_of(other, alpha, kind);
  const double middle = mine.estimate - its.estimate;
  const auto reach = [](const Interval& interval) { return (interval.high - interval.low) / 2; };
  const double half_width = std::hypot(reach(mine), reach(its));
  return {robust_centre(own) - robust_centre(other), middle - half_width, middle + half_width};
}

std::vector<RungStanding> judge_rung(std::span<const std::vector<double>> samples, const HalvingRules& rules) {
  std::vector<RungStanding> standings(samples.size());
  std::vector<std::size_t> ranked;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].empty()) ranked.push_back(i);
  }
  if (ranked.empty()) return standings;
  std::vector<double> centres(samples.size(), 0);
  for (const std::size_t arm : ranked) centres[arm] = robust_centre(samples[arm]);
  std::stable_sort(ranked.begin(), ranked.end(), [&](std::size_t a, std::size_t b) { return centres[a] > centres[b]; });
  const std::size_t leader = ranked.front();
  standings[leader].fate = RungFate::leads;

  const double alpha = rules.alpha / static_cast<double>(std::max<std::size_t>(ranked.size() - 1, 1));
  const std::size_t places = (ranked.size() + 1) / 2;
  std::size_t taken = 1;
  const bool quiet = rules.samples == Samples::noisy && all_within(samples[leader], centres[leader], rules.no_matter);
  for (const std::size_t arm : ranked) {
    if (arm == leader) continue;
    const std::vector<double>& own = samples[arm];
    RungStanding& standing = standings[arm];
    standing.log_ratio = compare_samples(own, samples[leader], alpha, rules.samples);
    const Interval& ratio = standing.log_ratio;
    const bool may_level = own.size() >= static_cast<std::size_t>(rules.level_from);
    const bool certain =
        may_level && ratio.low > -std::log1p(rules.no_matter) && ratio.high < std::log1p(rules.no_matter);
    if (own.size() < kFewestToDecide && rules.samples == Samples::noisy) {
      standing.fate = RungFate::stays;
    } else if (ratio.high < 0 || all_slower(own, centres[leader], rules.clear_loss)) {
      standing.fate = RungFate::slower;
    } else if (certain || (quiet && all_within(own, centres[leader], rules.no_matter))) {
      standing.fate = RungFate::level;
    } else {
      standing.fate = taken < places ? RungFate::stays : RungFate::outranked;
      ++taken;
    }
  }
  return standings;
}

}  // namespace accelopt::stats
