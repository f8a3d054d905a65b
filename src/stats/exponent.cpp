// SPDX-License-Identifier: Apache-2.0
#include "stats/exponent.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace accelopt::stats {
namespace {

Interval hull(const std::vector<RestartSamples>& restarts, const ExponentRules& rules) {
  std::vector<double> all;
  for (const RestartSamples& restart : restarts) all.insert(all.end(), restart.begin(), restart.end());
  Interval interval = trimmed_interval(all, rules.alpha);
  const Interval resampled = hierarchical_bootstrap(restarts, rules.alpha, rules.bootstrap_seed);
  interval.low = std::min(interval.low, resampled.low);
  interval.high = std::max(interval.high, resampled.high);
  return interval;
}

}  // namespace

double slope(std::span<const double> places, std::span<const double> values) {
  double mean_place = 0;
  double mean_value = 0;
  const auto count = static_cast<double>(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    mean_place += places[i] / count;
    mean_value += values[i] / count;
  }
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    product += (places[i] - mean_place) * (values[i] - mean_value);
    square += (places[i] - mean_place) * (places[i] - mean_place);
  }
  return square > 0 ? product / square : 0;
}

bool sizes_suffice(std::span<const double> sizes, const ExponentRules& rules) {
  return sizes.size() >= rules.least_sizes && sizes.back() / sizes.front() >= rules.least_range;
}

ExponentDifference exponent_difference(std::span<const double> sizes, std::span<const LadderRestart> restarts,
                                       const ExponentRules& rules) {
  ExponentDifference out;
  if (!sizes_suffice(sizes, rules)) {
    out.reason =
        fmt::format("a claim needs {} sizes over a range of {} times at least", rules.least_sizes, rules.least_range);
    return out;
  }
  const std::size_t first = sizes.size() / 2;
  std::vector<double> places;
  for (std::size_t i = first; i < sizes.size(); ++i) places.push_back(std::log(sizes[i]));
  std::vector<RestartSamples> slopes;
  std::vector<RestartSamples> growth;
  for (const LadderRestart& restart : restarts) {
    slopes.emplace_back();
    growth.emplace_back();
    for (const LadderBlock& block : restart) {
      slopes.back().push_back(slope(places, std::span(block).subspan(first)));
      growth.back().push_back(block.back() - block[first]);
    }
  }
  out.difference = hull(slopes, rules);
  if (out.difference.low <= rules.least_gain) {
    out.reason = fmt::format("the difference of exponents is {:.2f} [{:.2f}, {:.2f}], not certainly over {}",
                             out.difference.estimate, out.difference.low, out.difference.high, rules.least_gain);
  } else if (hull(growth, rules).low <= 0) {
    out.reason = "the ratio at the largest size does not certainly exceed that at the smallest";
  } else {
    out.claimed = true;
  }
  return out;
}

}  // namespace accelopt::stats
