// SPDX-License-Identifier: Apache-2.0
#include "agents/recipes/route.hpp"

#include <algorithm>
#include <optional>

namespace accelopt::agents::recipes {

using base::Result;

namespace {

/// Routes that are gone on with, and steps of the longest.
constexpr std::size_t kExtended = 3;
constexpr std::size_t kMostSteps = 3;
/// A step is added without a look at what the one before gave: only where it stood out before, and is expected to pay
/// by this much.
constexpr double kWorthAdding = 1.05;

bool was_tried(const std::string& title, const std::vector<TriedPlan>& tried) {
  return std::any_of(tried.begin(), tried.end(), [&](const TriedPlan& plan) { return plan.title == title; });
}

void best_first(std::vector<Route>& routes) {
  std::stable_sort(routes.begin(), routes.end(), [](const Route& a, const Route& b) { return a.weight > b.weight; });
}

bool has_recipe(const Route& route, const std::string& recipe) {
  return std::any_of(route.steps.begin(), route.steps.end(),
                     [&](const Application& step) { return step.recipe == recipe; });
}

/// The route with the step that the memory holds for the best on `kernel`, which its steps gave. None: no step has been
/// seen to pay.
std::optional<Route> one_step_further(const syntax::Clang& clang, const KernelSource& kernel, const Route& route,
                                      const Evidence& evidence) {
  const auto applications = enumerate(clang, kernel);
  if (!applications) return std::nullopt;
  const Application* best = nullptr;
  Judgement of_best;
  for (const Application& application : *applications) {
    if (has_recipe(route, application.recipe)) continue;
    Judgement judgement = evidence.judge(application);
    if (!judgement.stands_out || judgement.weight < kWorthAdding) continue;
    if (best != nullptr && judgement.weight <= of_best.weight) continue;
    best = &application;
    of_best = std::move(judgement);
  }
  if (best == nullptr) return std::nullopt;
  Route longer = route;
  longer.steps.push_back(*best);
  longer.weight *= of_best.weight;
  longer.rests_on.insert(longer.rests_on.end(), of_best.rests_on.begin(), of_best.rests_on.end());
  return longer;
}

}  // namespace

std::string Route::title() const {
  std::string result;
  for (const Application& step : steps) result += (result.empty() ? "" : ", then: ") + step.title;
  return result;
}

std::vector<Route> ranked(const std::vector<Application>& applications, const Evidence& evidence,
                          const std::vector<TriedPlan>& tried) {
  std::vector<Route> result;
  for (const Application& application : applications) {
    if (was_tried(application.title, tried)) continue;
    Judgement judgement = evidence.judge(application);
    result.push_back({{application}, judgement.weight, std::move(judgement.rests_on)});
  }
  best_first(result);
  return result;
}

std::vector<Route> extended(const syntax::Clang& clang, const KernelSource& kernel, std::vector<Route> routes,
                            const Evidence& evidence, const std::vector<TriedPlan>& tried) {
  if (evidence.empty()) return routes;
  std::vector<Route> longer;
  for (std::size_t i = 0; i < std::min(kExtended, routes.size()); ++i) {
    Route route = routes[i];
    KernelSource at = kernel;
    while (route.steps.size() < kMostSteps) {
      auto text = apply(clang, at, route.steps.back());
      if (!text) break;
      at.source = std::move(*text);
      auto further = one_step_further(clang, at, route, evidence);
      if (!further) break;
      route = std::move(*further);
    }
    if (route.steps.size() > 1 && !was_tried(route.title(), tried)) longer.push_back(std::move(route));
  }
  routes.insert(routes.end(), std::make_move_iterator(longer.begin()), std::make_move_iterator(longer.end()));
  best_first(routes);
  return routes;
}

Result<std::string> apply_all(const syntax::Clang& clang, KernelSource kernel, const std::vector<Application>& steps) {
  for (const Application& step : steps) {
    TRY_ASSIGN(kernel.source, apply(clang, kernel, step));
  }
  return std::move(kernel.source);
}

}  // namespace accelopt::agents::recipes
