// SPDX-License-Identifier: Apache-2.0
#include "recipes/route.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace accelopt::recipes {

using agents::TriedPlan;
using base::Result;

namespace {

/// Kinds of recipe whose first route is gone on with.
constexpr std::size_t kExtended = 3;
/// A second step is added without a look at what the first gave: only where it is expected to pay by this much and,
/// if it was measured at least this often, has paid with some certainty.
constexpr double kWorthAdding = 1.05;
constexpr double kSeenEnough = 1;
/// What mostly comes to the same as a plan before it counts for this much less.
constexpr double kAgain = 0.9;

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

/// Of routes by the same recipes with other parameters each counts for less than the one before it: they mostly come to
/// the same, and the next plan had better try something else.
void prefer_others(std::vector<Route>& routes) {
  best_first(routes);
  std::map<std::string, double> met;
  for (Route& route : routes) {
    std::string recipes;
    for (const Application& step : route.steps) recipes += step.recipe + '\n';
    const auto [factor, fresh] = met.try_emplace(recipes, 1);
    if (!fresh) factor->second *= kAgain;
    route.weight *= factor->second;
  }
}

/// The first routes of as many kinds of recipe: with other parameters the same recipe mostly leaves the same to do.
std::vector<Route> first_of_kinds(const std::vector<Route>& routes) {
  std::vector<Route> result;
  std::set<std::string> met;
  for (const Route& route : routes) {
    if (result.size() < kExtended && met.insert(route.steps.front().recipe).second) result.push_back(route);
  }
  return result;
}

/// Whether a second step that the memory has not seen goes by the static cost model's word: where that was measured.
bool goes_by_word(const KernelSource& kernel) {
  return reads_with_clang(kernel.language);
}

/// The route with each of the steps that are expected to pay on `kernel`, which its steps gave: by the memory, and
/// where that has not seen a step of a C or C++ kernel by the static cost model. It promises what it did without them:
/// what a step gained where the others had not been made is not to be had again of both. Those that are expected to pay
/// most come first.
std::vector<Route> one_step_further(const syntax::Clang& clang, const KernelSource& kernel, const Route& route,
                                    const Evidence& evidence) {
  std::vector<std::pair<double, Route>> found;
  const auto applications = enumerate(clang, kernel);
  if (!applications) return {};
  const bool by_word = goes_by_word(kernel);
  for (const Application& application : *applications) {
    if (has_recipe(route, application.recipe)) continue;
    Judgement judgement = evidence.judge(application);
    const bool seen = judgement.seen >= kSeenEnough;
    if (judgement.weight < kWorthAdding || (seen ? judgement.low < 1 : !by_word)) continue;
    Route longer = route;
    longer.steps.push_back(application);
    longer.rests_on.insert(longer.rests_on.end(), judgement.rests_on.begin(), judgement.rests_on.end());
    found.emplace_back(judgement.weight, std::move(longer));
  }
  std::ranges::stable_sort(found, std::greater(), &std::pair<double, Route>::first);
  std::vector<Route> result;
  for (auto& [weight, longer] : found) result.push_back(std::move(longer));
  return result;
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
  if (evidence.empty() && !goes_by_word(kernel)) return routes;
  std::vector<Route> longer;
  for (const Route& route : first_of_kinds(routes)) {
    auto text = apply_all(clang, kernel, route.steps);
    if (!text) continue;
    KernelSource at = kernel;
    at.source = std::move(*text);
    for (Route& next : one_step_further(clang, at, route, evidence)) longer.push_back(std::move(next));
  }
  // What a longer route begins with is carried out with it.
  for (Route& route : routes) {
    const bool begins = std::any_of(longer.begin(), longer.end(), [&](const Route& other) {
      return other.steps.front().title == route.steps.front().title;
    });
    if (begins) route.weight *= kAgain;
  }
  prefer_others(longer);
  std::erase_if(longer, [&](const Route& route) { return was_tried(route.title(), tried); });
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

}  // namespace accelopt::recipes
