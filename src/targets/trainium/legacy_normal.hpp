// SPDX-License-Identifier: Apache-2.0
// The numbers of numpy's legacy generator, bit for bit: np.random.seed(s), then np.random.normal(mean, deviation).
#pragma once

#include <cstdint>
#include <optional>
#include <random>

namespace accelopt::targets::trainium {

class LegacyNormal {
 public:
  explicit LegacyNormal(std::uint32_t seed) : bits_(seed) {}

  double normal(double mean, double deviation) { return mean + deviation * standard(); }

 private:
  double uniform();   ///< of [0, 1), 53 bits
  double standard();  ///< by the polar method, two at a time

  std::mt19937 bits_;  // the standard's seeding by one number is numpy's
  std::optional<double> kept_;
};

}  // namespace accelopt::targets::trainium
