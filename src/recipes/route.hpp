// SPDX-License-Identifier: Apache-2.0
// Plans of the recipes planner: one application, or two in a row where the second is expected to pay, too.
#pragma once

#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "recipes/engine.hpp"
#include "recipes/evidence.hpp"

namespace accelopt::recipes {

/// Applications to be made one after another.
struct Route {
  std::vector<Application> steps;     ///< at least one
  double weight = 1;                  ///< expected speed-up of the first of them, after the memory has been heard
  std::vector<std::string> rests_on;  ///< ids of the experiences that moved it

  /// "Hold tiles of ..., then: Write every ..."
  [[nodiscard]] std::string title() const;
};

/// The applications as routes of one step, best weight first; those that were tried are left out.
std::vector<Route> ranked(const std::vector<Application>& applications, const Evidence& evidence,
                          const std::vector<agents::TriedPlan>& tried);

/// The routes with longer ones beside them: the first of each of the first few kinds of recipe goes on with what is
/// expected to help on the kernel that it gives. Without evidence the static cost model expects; evidence overrules it
/// where it has seen the step. Best weight first.
std::vector<Route> extended(const syntax::Clang& clang, const KernelSource& kernel, std::vector<Route> routes,
                            const Evidence& evidence, const std::vector<agents::TriedPlan>& tried);

/// The kernel after all steps. @error as `apply`.
base::Result<std::string> apply_all(const syntax::Clang& clang, KernelSource kernel,
                                    const std::vector<Application>& steps);

}  // namespace accelopt::recipes
