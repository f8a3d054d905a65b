// SPDX-License-Identifier: Apache-2.0
// How much of a space of configurations is tried, and what of it first. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "model/kernel.hpp"
#include "model/tuning.hpp"
#include "stats/grid_search.hpp"

namespace accelopt::evaluation {

/// How much of a space is tried. Spaces of up to `whole` configurations are raced whole; of larger ones a share, half
/// of it spread over the space and the rest where the best ones point to.
struct TuningRules {
  std::size_t whole = 32;
  std::size_t share = 5;  ///< one in so many, but at least `whole`
  std::size_t most = 96;
  std::size_t heat = 12;         ///< most configurations that run side by side, beside the leader
  std::size_t probes = 8;        ///< when so many were built and none compiles, none is expected to
  int idle_waves = 2;            ///< the rest of the share is left when so many waves in a row gained less than
  double least_gain = 0.01;      ///< ... this
  std::size_t verify_tries = 4;  ///< configurations that are verified until one passes
  double compile_seconds = 300;  ///< of all compilers together, before the race and in it
  double build_seconds = 60;     ///< building before the race begins ends after this much, once something is built
  double wall_factor = 4;        ///< the whole search ends after so many times what its measuring may take
};

/// How many configurations are tried at most, how many of them before anything is known, and how many at once after
/// that.
struct Shares {
  std::size_t all = 0;
  std::size_t first = 0;
  std::size_t wave = 0;
};

Shares shares_of(std::size_t configurations, const TuningRules& rules);

/// The configurations as places in their sets, the values of each in order of size.
std::vector<stats::GridPoint> grid_of(const model::TuningSpace& space);

/// Which configurations are tried first. The same for the builder, which comes before, and for the race.
std::vector<std::size_t> first_wave(const model::Kernel& open, const std::vector<stats::GridPoint>& points,
                                    const TuningRules& rules);

}  // namespace accelopt::evaluation
