// SPDX-License-Identifier: Apache-2.0
// The built-in agents: planner, executor, fixer and summarizer that know loop transformations and need no model. Their
// answers depend on the question alone, and they may be asked from any number of threads.
#pragma once

#include <memory>

#include "agents/roles.hpp"
#include "recipes/engine.hpp"
#include "syntax/clang.hpp"

namespace accelopt::recipes {

/// Plan number n (identity.plan) of a kernel is the n-th best that was not tried on it: an application by the cost
/// model's prior, corrected by what the memory shows of the same recipe on loops of the same shape (evidence.hpp), or
/// two in a row where the second is expected to help, too (route.hpp). The plan's text carries the applications. A lost
/// answer: no application is left, or the kernel cannot be read.
std::unique_ptr<agents::Planner> make_recipes_planner(syntax::Clang clang);

/// Applies what the plan's text carries, one after another. A lost answer: the text carries nothing, or it does not
/// apply.
std::unique_ptr<agents::Executor> make_recipes_executor(syntax::Clang clang);

/// Fix number n (identity.fix, from 1) applies the n-th safer form of the plan to the parent: without its last steps,
/// then of its first milder flags, smaller tiles, nothing packed. A lost answer: there is none.
std::unique_ptr<agents::Fixer> make_recipes_fixer(syntax::Clang clang);

/// The recipe as a general rule, with the line that lets the planner recognize it again: of a mended solution that of
/// the safer form that it has, found by applying the forms to the parent once more; of a mend that of the form that
/// failed. No optimization: the plan carries none, or no form of it gives that solution.
std::unique_ptr<agents::Summarizer> make_recipes_summarizer(syntax::Clang clang);

/// Safer forms of an application, the one that changes least first.
std::vector<Application> safer_forms(const Application& application);

/// Safer forms of applications in a row: fewer of them, then those of the first.
std::vector<std::vector<Application>> safer_routes(const std::vector<Application>& steps);

}  // namespace accelopt::recipes
