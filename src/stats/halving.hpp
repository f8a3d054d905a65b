// SPDX-License-Identifier: Apache-2.0
// The race of a kernel's configurations, in rungs: every rung runs those that are left for more blocks than the one
// before, and at its end the certainly slower and the slower half go. Pure and deterministic.
#pragma once

#include <span>
#include <vector>

#include "stats/estimate.hpp"

namespace accelopt::stats {

struct HalvingRules {
  std::vector<int> rung_blocks = {3, 6, 12, 24};  ///< blocks of each rung
  double alpha = 0.05;       ///< probability that a rung drops as slower what is not; split evenly over its arms
  double clear_loss = 0.15;  ///< slower at once: every block of the rung was slower than the leader by more than this
  double no_matter = 0.01;   ///< level: certain to be within this of the leader, from `level_from` blocks on, or where
                             ///< not one sample of either is further than this from the leader's middle
  int level_from = 12;
  Samples samples = Samples::noisy;
};
/// Those of a race with such samples: of exact ones, one rung of one block decides.
HalvingRules halving_rules(Samples samples);

/// What became of an arm at the end of a rung.
enum class RungFate {
  absent,     ///< no samples
  leads,      ///< the fastest by estimate
  stays,      ///< goes on to the next rung
  slower,     ///< certainly slower than the leader
  level,      ///< certainly as good as the leader: nothing to gain from it
  outranked,  ///< in the slower half
};

struct RungStanding {
  RungFate fate = RungFate::absent;
  Interval log_ratio;  ///< against the leader, log(leader's time / own time): under 0 is slower
};

/// The middle of few samples, which one outlier does not move: the median of fewer than five, else the trimmed mean.
double robust_centre(std::span<const double> samples);

/// log(other's time / own time) from samples against a common reference, with an interval that takes their errors as
/// independent; an arm that is the reference itself has none. The estimate is the difference of the robust centres.
Interval compare_samples(std::span<const double> own, std::span<const double> other, double alpha,
                         Samples kind = Samples::noisy);

/// The standings after a rung. A sample is log(common reference's time / own time) in one block; an arm without samples
/// is absent. At most half of the present arms, rounded up, lead or stay. No arm goes because of a single sample:
/// ranks follow `robust_centre`, and with fewer than three samples everything stays, unless they are exact.
std::vector<RungStanding> judge_rung(std::span<const std::vector<double>> samples, const HalvingRules& rules = {});

}  // namespace accelopt::stats
