// SPDX-License-Identifier: Apache-2.0
#include "stats/survival.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace accelopt::stats {
namespace {

constexpr int kDraws = 4000;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The value below which this share of the sorted values lies.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<SurvivalStep> kaplan_meier(std::span<const Duration> durations) {
  std::vector<Duration> sorted(durations.begin(), durations.end());
  std::ranges::sort(sorted, {}, &Duration::time);
  std::vector<SurvivalStep> curve;
  double survival = 1;
  for (std::size_t first = 0; first < sorted.size();) {
    const double time = sorted[first].time;
    std::size_t last = first;
    int events = 0;
    for (; last < sorted.size() && sorted[last].time == time; ++last) events += sorted[last].seen == Seen::event;
    const auto at_risk = static_cast<int>(sorted.size() - first);
    if (events > 0) {
      survival *= 1 - static_cast<double>(events) / at_risk;
      curve.push_back({time, at_risk, events, survival});
    }
    first = last;
  }
  return curve;
}

std::optional<double> median_time(std::span<const SurvivalStep> curve) {
  // Products of fractions: what is one half by hand may be a bit more here.
  constexpr double kHalf = 0.5 + 1e-12;
  const auto step = std::ranges::find_if(curve, [](const SurvivalStep& one) { return one.survival <= kHalf; });
  return step == curve.end() ? std::nullopt : std::optional(step->time);
}

double restricted_mean(std::span<const SurvivalStep> curve, double horizon) {
  double area = 0;
  double from = 0;
  double survival = 1;
  for (const SurvivalStep& step : curve) {
    if (step.time >= horizon) break;
    area += survival * (step.time - from);
    from = step.time;
    survival = step.survival;
  }
  return area + survival * (horizon - from);
}

std::optional<Interval> ratio_over_groups(std::span<const std::vector<double>> log_ratios, double alpha,
                                          std::uint64_t seed) {
  std::vector<double> means;
  for (const std::vector<double>& group : log_ratios) {
    if (!group.empty()) means.push_back(mean(group));
  }
  if (means.size() < 2) return std::nullopt;
  std::mt19937_64 random(seed);
  std::vector<double> draws;
  std::vector<double> drawn(means.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    // The remainder, not a distribution of the library: the same seed gives the same draws everywhere.
    for (double& value : drawn) value = means[random() % means.size()];
    draws.push_back(mean(drawn));
  }
  std::ranges::sort(draws);
  return as_ratio({mean(means), quantile(draws, alpha / 2), quantile(draws, 1 - alpha / 2)});
}

}  // namespace accelopt::stats
