// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <random>

namespace accelopt::stats {

/// The noise of paired log-ratios on a shared machine: a Laplace core and outliers of up to a quarter in 8 % of the
/// pairs. The seed is to be printed by the test that uses it.
class HeavyTailedNoise {
 public:
  HeavyTailedNoise(unsigned seed, double core_deviation) : engine_(seed), scale_(core_deviation / std::sqrt(2.0)) {}

  double operator()() {
    const double u = uniform_(engine_);
    double noise = scale_ * (u < 0.5 ? std::log(2 * u + 1e-300) : -std::log(2 * (1 - u) + 1e-300));
    if (uniform_(engine_) < 0.08) noise += 0.5 * (uniform_(engine_) - 0.5);
    return noise;
  }

 private:
  std::mt19937_64 engine_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double scale_;
};

}  // namespace accelopt::stats
