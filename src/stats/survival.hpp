// SPDX-License-Identifier: Apache-2.0
// How long something takes that may not have happened when the watching ended: estimates that neither leave out nor
// make up what was not seen. Pure and deterministic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/estimate.hpp"

namespace accelopt::stats {

/// Whether the event was seen at this time, or the watching ended then without it.
enum class Seen { event, censored };

/// A time from the start, at least 0, in any unit.
struct Duration {
  double time = 0;
  Seen seen = Seen::event;
};

/// A step of the Kaplan-Meier curve: the probability that it takes longer than `time`, from there to the next step.
struct SurvivalStep {
  double time = 0;
  int at_risk = 0;  ///< that were watched until then, and had not happened before
  int events = 0;   ///< that happened then
  double survival = 1;
  bool operator==(const SurvivalStep&) const = default;
};

/// The product-limit estimate, a step for each time at which something happened, ascending. What is censored at a time
/// was at risk then. @source Kaplan, Meier: Nonparametric estimation from incomplete observations. JASA 53 (1958).
std::vector<SurvivalStep> kaplan_meier(std::span<const Duration> durations);

/// The first time at which the curve is at one half or below; nothing: it stays above.
std::optional<double> median_time(std::span<const SurvivalStep> curve);

/// The mean of min(time, horizon): the area under the curve from 0 to the horizon, which must be at least 0.
/// @source Royston, Parmar: Restricted mean survival time. BMC Medical Research Methodology 13 (2013).
double restricted_mean(std::span<const SurvivalStep> curve, double horizon);

/// exp of the mean over groups of each group's mean log-ratio, with the percentile interval of a bootstrap that draws
/// whole groups: measurements of one group (a task) are alike, those of different ones are not. Groups without a value
/// are left out; nothing: fewer than two groups have one. Deterministic in `seed`.
std::optional<Interval> ratio_over_groups(std::span<const std::vector<double>> log_ratios, double alpha,
                                          std::uint64_t seed);

}  // namespace accelopt::stats
