// SPDX-License-Identifier: Apache-2.0
// The built-in agents: planner, executor, fixer and summarizer that know loop transformations and need no model. Their
// answers depend on the question alone, and they may be asked from any number of threads.
#pragma once

#include <memory>

#include "agents/recipes/engine.hpp"
#include "agents/roles.hpp"
#include "syntax/clang.hpp"

namespace accelopt::agents::recipes {

/// Plan number n (identity.plan) of a kernel is the n-th best application that was not tried on it, by the cost model's
/// prior weighed by what the memory shows of the same recipe on loops of the same shape. The plan's text carries the
/// application. A lost answer: no application is left, or the kernel cannot be read.
std::unique_ptr<Planner> make_recipes_planner(syntax::Clang clang);

/// Applies the application that the plan's text carries. A lost answer: the text carries none, or it does not apply.
std::unique_ptr<Executor> make_recipes_executor(syntax::Clang clang);

/// Fix number n (identity.fix, from 1) applies the n-th safer form of the plan to the parent: milder flags, smaller
/// tiles, nothing packed. A lost answer: there is none.
std::unique_ptr<Fixer> make_recipes_fixer(syntax::Clang clang);

/// The recipe as a general rule, with the line that lets the planner recognize it again. No optimization: the plan
/// carries none.
std::unique_ptr<Summarizer> make_recipes_summarizer();

/// The applications of the kernel in the order in which the planner gives them, with the ids of the experiences that
/// moved each.
struct Ranked {
  Application application;
  double weight = 1;                  ///< the prior after the memory has been heard
  std::vector<std::string> rests_on;  ///< ids of experiences
};
std::vector<Ranked> ranked(const std::vector<Application>& applications, const std::vector<model::Experience>& memory,
                           const std::vector<TriedPlan>& tried);

/// Safer forms of an application, the one that changes least first.
std::vector<Application> safer_forms(const Application& application);

}  // namespace accelopt::agents::recipes
