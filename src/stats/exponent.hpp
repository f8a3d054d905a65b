// SPDX-License-Identifier: Apache-2.0
// How the growth of two programs' times with the size of their input differs, from paired runs on a ladder of sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/estimate.hpp"

namespace accelopt::stats {

/// Slope of the least-squares line. 0 where the places do not differ.
double slope(std::span<const double> places, std::span<const double> values);

/// One block: log(old / new) at each size of the ladder. One restart: its blocks.
using LadderBlock = std::vector<double>;
using LadderRestart = std::vector<LadderBlock>;

struct ExponentRules {
  std::size_t least_sizes = 6;
  double least_range = 32;   ///< largest size over smallest
  double least_gain = 0.25;  ///< claimed: the low end of the difference is over this
  double alpha = 0.05;
  std::uint64_t bootstrap_seed = 0x5eed;
};

/// Whether a claim can be made on these sizes, which ascend.
bool sizes_suffice(std::span<const double> sizes, const ExponentRules& rules = {});

struct ExponentDifference {
  Interval difference;  ///< old exponent less new one, on the upper half of the ladder
  bool claimed = false;
  std::string reason;  ///< why it is not claimed
};

/// Old exponent less new one. A block gives one sample, the slope of log(old / new) over log(size) on the upper half of
/// the ladder; the interval is the hull of the trimmed t-interval and the hierarchical bootstrap. Claimed only where
/// its low end is over the least gain, and the ratio at the largest size certainly exceeds that at the smallest. Pure.
ExponentDifference exponent_difference(std::span<const double> sizes, std::span<const LadderRestart> restarts,
                                       const ExponentRules& rules = {});

}  // namespace accelopt::stats
