// SPDX-License-Identifier: Apache-2.0
#include "memory/utility.hpp"

#include <algorithm>
#include <cmath>

namespace accelopt::memory {

double posterior_mean(const model::Credit& credit) {
  const double confirmed = kPriorConfirmed + static_cast<double>(std::max<std::int64_t>(0, credit.confirmed));
  const double refuted = kPriorRefuted + static_cast<double>(std::max<std::int64_t>(0, credit.refuted));
  return confirmed / (confirmed + refuted);
}

double utility_of(const model::Experience& experience) {
  if (experience.polarity == model::Polarity::mends) return posterior_mean(experience.credit) * std::log(kMendEffect);
  double effect = experience.effect ? experience.effect->estimate : kUnknownEffect;
  if (!std::isfinite(effect) || effect <= 0) effect = kUnknownEffect;
  return posterior_mean(experience.credit) * std::min(std::abs(std::log(effect)), std::log(kMostEffect));
}

}  // namespace accelopt::memory
