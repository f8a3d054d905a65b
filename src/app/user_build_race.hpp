// SPDX-License-Identifier: Apache-2.0
// What a winner gains in the user's own build, and in which form it keeps its gain there.
#pragma once

#include <string>
#include <vector>

#include "app/device.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "scaffold/patch_form.hpp"
#include "scaffold/user_build.hpp"

namespace accelopt::app {

/// The flags beside the user's with which kernels are measured, as they can be given to any build: "-O3",
/// "-march=native", then the winner's own.
std::vector<std::string> measured_flags(const model::Solution& winner);

/// The form that needs least: no flags where the user's build is not known and the winner names none, else pragmas.
scaffold::PatchForm form_without_measuring(const model::Solution& winner);

struct BuildRace {
  scaffold::PatchForm form;
  model::Interval ratio;  ///< over the user's own function in the user's build
};

/// Races the winner against the baseline, both compiled as the user's build does it: as it is, with its flags in
/// pragmas, and in a file of its own. The first of them that keeps nine tenths of what the last one gains is taken.
/// @error unavailable: the baseline or every form fails; the message says why. As Evaluator.
base::Result<BuildRace> race_in_user_build(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                                           const model::Solution& winner, const scaffold::UserBuild& build);

}  // namespace accelopt::app
