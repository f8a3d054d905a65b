// SPDX-License-Identifier: Apache-2.0
// What a winner gains in the user's own build, and in which form it keeps its gain there.
#pragma once

#include <optional>
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

/// The winner's form in which its flags come to the user's build in this way.
scaffold::PatchForm form_of(scaffold::FlagsBy by, const model::Solution& winner);

/// Whether the build's compiler follows `#pragma GCC optimize` and `target`, as GCC does; to others they are an unknown
/// pragma, which `-Werror` refuses.
enum class GccPragmas { followed, unknown };

/// The form that needs least: as it is where the winner names no flags, else pragmas, else a file of its own.
scaffold::PatchForm form_without_measuring(const model::Solution& winner, GccPragmas pragmas);

struct BuildRace {
  scaffold::PatchForm form;
  model::Interval ratio;  ///< over the user's own function in the user's build
};

/// Whether a new source file becomes part of the user's program by the patch alone.
enum class OwnFile { is_built, needs_hands };

/// Which form to take, then which where that does not build. First the one that needs least among those that keep nine
/// tenths of the largest gain; where the user's build names no files, a file of its own comes behind what gains in the
/// user's file, certainly.
std::vector<BuildRace> in_order_of_preference(std::vector<BuildRace> measured, OwnFile own_file);

struct BuildRaces {
  std::vector<BuildRace> forms;  ///< in order of preference, at least one
  std::string remark;            ///< what the figures do not rest on; empty: on everything that is asked of a winner
  /// The first form's, where both functions' outputs are read right after the call: of winners whose stores go past
  /// the caches alone.
  std::optional<model::Interval> read_after;
};

/// The task for which only time counts: inputs as declared, and a bound that nothing but another result is beyond.
model::Task for_times_alone(model::Task task);

struct BuildRaceOptions {
  std::optional<scaffold::FlagsBy> form{};  ///< the only one to race; none: all
  OwnFile own_file = OwnFile::is_built;
  GccPragmas pragmas = GccPragmas::followed;  ///< unknown: that form is not raced
};

/// Races the winner against the baseline, both compiled as the user's build does it: as it is, with its flags in
/// pragmas, and in a file of its own. Where the baseline is too inexact so for the task's bound (-Ofast), both are
/// timed all the same: what the user's own build computes is not in question.
/// @error unavailable: the baseline or every form fails; the message says why. As Evaluator.
base::Result<BuildRaces> race_in_user_build(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                                            const model::Solution& winner, const scaffold::UserBuild& build,
                                            const BuildRaceOptions& options);

}  // namespace accelopt::app
