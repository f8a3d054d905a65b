// SPDX-License-Identifier: Apache-2.0
// The runs of an ablation: one factor of the method at a time, several seeds, equal budgets.
#pragma once

#include <string>
#include <vector>

#include "app/suite_run.hpp"
#include "report/ablation.hpp"

namespace accelopt::app {

struct AblationRequest {
  /// Of every arm, but for the factor that it changes. Each run of one draws its own seed from `search.seed`; where
  /// lessons go is the ablation's own to say.
  SuiteRequest suite;
  std::vector<std::string> factors{};  ///< of kAblationFactors; none: all
  int seeds = 3;
  int jobs = 1;  ///< arms and seeds that run side by side; the tasks of each still follow one another
};

/// What can be changed: "strategy" (beam, greedy, repeated-sampling), "memory" (off, queue, ranked), "fixer" (none, as
/// many tries as the base has), "agents" (recipes, model).
const std::vector<std::string>& ablation_factors();

/// An arm and how its runs differ from the base.
struct AblationPlan {
  AblationRequest request;
  report::Ablation empty;           ///< its arms without cells
  std::vector<SearchFlags> search;  ///< by arm, without seed and store
};

/// @error invalid_argument: an unknown factor, a budget that is missing (runs of equal budgets are what is compared),
/// or flags that the ablation sets itself; as plan_suite.
base::Result<AblationPlan> plan_ablation(const Shell& shell, AblationRequest request);

/// Runs what is not on record in the workspace yet as a finished suite run of the same ablation; stops where the shell
/// is to wind down, and is continued by the same call. Cells in order of seeds. `ports` are called from several threads
/// where arms run side by side, with the arm and the seed before the task's name. @error as run_suite.
base::Result<report::Ablation> run_ablation(const Shell& shell, const AblationPlan& plan, const SuitePorts& ports);

}  // namespace accelopt::app
