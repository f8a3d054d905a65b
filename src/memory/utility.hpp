// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experience.hpp"

namespace accelopt::memory {

/// How likely an experience holds: the mean of a Beta distribution that began with kPriorConfirmed and kPriorRefuted.
double posterior_mean(const model::Credit& credit);

/// What an experience is worth before its age counts: its posterior mean times how much its effect says, |ln
/// speed-up| up to that of kMostEffect. An unknown effect counts as kUnknownEffect, a mend as kMendEffect.
double utility_of(const model::Experience& experience);

/// One confirmation and one refutation that nobody saw: an experience without credit is as likely as not to hold.
inline constexpr double kPriorConfirmed = 1;
inline constexpr double kPriorRefuted = 1;
/// Speed-ups (and slow-downs) beyond this say no more: the rest is the baseline's fault.
inline constexpr double kMostEffect = 64;
/// What a note of another tool, without a measurement, counts as: a speed-up of 10 %.
inline constexpr double kUnknownEffect = 1.1;
/// A mend saves a failed attempt. The speed of the kernel that it saves is the plan's doing.
inline constexpr double kMendEffect = 1.2;

}  // namespace accelopt::memory
