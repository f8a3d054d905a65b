// SPDX-License-Identifier: Apache-2.0
// The search for the values of a kernel that leaves some open (`//@ tune`): builds ahead, races in rungs.
#pragma once

#include <stop_token>

#include "base/result.hpp"
#include "evaluation/measuring.hpp"
#include "evaluation/target.hpp"
#include "model/tuning.hpp"

namespace accelopt::evaluation {

/// The configurations that a kernel leaves open: what its directives say, or what the target finds when it builds.
/// @error as Target::build.
base::Result<model::TuningSpace> open_space(const Measuring& measuring, const model::Kernel& kernel,
                                            const std::stop_token& stop);

/// Builds a candidate; of one with open values, the configurations that are raced first. Not built: malformed, or none
/// of the first `probes` compiles. The machine-code id of an open one stands for its source. @error as Target::build.
/// What its configurations take of the compilers comes from its own budget.
base::Result<model::BuildReport> build_candidate(const Measuring& measuring, const model::Kernel& kernel,
                                                 const std::stop_token& stop);

/// Finds the values of an open candidate, then `run_triage` with them: the evaluation is that of the chosen
/// configuration and says what became of the others. A failure is that of the first configuration that was tried.
base::Result<model::Evaluation> run_tuned_triage(Measuring& measuring, const model::Kernel& candidate,
                                                 const model::TuningSpace& space, const model::Kernel& opponent,
                                                 const std::stop_token& stop);

}  // namespace accelopt::evaluation
