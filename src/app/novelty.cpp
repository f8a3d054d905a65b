// SPDX-License-Identifier: Apache-2.0
#include "app/novelty.hpp"

#include <utility>

#include "app/run_story.hpp"
#include "model/tuning.hpp"
#include "syntax/clang.hpp"

namespace accelopt::app {
namespace {

using base::Result;

constexpr std::string_view kRecipes = "recipes";  ///< how they sign their answers

std::string text_alone(const model::Solution& solution) {
  return solution.sources.empty() ? std::string() : model::main_text(model::standing_alone(solution));
}

/// How recipes stand to a step that a model made.
Result<report::NoveltyStep> judged(const report::RunStory& story, const report::StoryAttempt& step,
                                   const recipes::ReachLimits& limits) {
  report::NoveltyStep out{.identity = step.identity};
  const model::Language language = story.run.task.baseline.language;
  if (!recipes::rewrites(language)) return out;
  TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
  const report::StoryAttempt* const parent = story.find(step.parent);
  const recipes::KernelSource before{
      .source = text_alone(parent != nullptr ? parent->kernel.solution() : story.run.task.baseline),
      .task_header = story.task_header,
      .language = language,
      .threads = story.run.task.cpu.threads};
  const auto route = recipes::route_between(clang, before, text_alone(step.kernel.solution()), limits);
  if (!route) return out;
  out.reach = report::Reach::route;
  for (const recipes::Application& one : *route) out.route.push_back(one.title);
  return out;
}

}  // namespace

Result<std::optional<report::Novelty>> novelty_of(const report::RunStory& story, const recipes::ReachLimits& limits) {
  const report::StoryAttempt* const winner = story.winner();
  if (winner == nullptr) return std::nullopt;
  report::Novelty out;
  for (const report::StoryAttempt* step : story.lineage(*winner)) {
    if (step->author == kRecipes) {
      out.steps.push_back({step->identity, report::Reach::recipes});
    } else {
      TRY_ASSIGN(report::NoveltyStep one, judged(story, *step, limits));
      out.steps.push_back(std::move(one));
    }
  }
  return out;
}

Result<report::RunStory> read_story_with_novelty(const std::filesystem::path& workspace, const std::string& name) {
  TRY_ASSIGN(report::RunStory story, read_run_story(workspace, name));
  // Without libclang the story is as good, and says nothing of recipes.
  if (auto novelty = novelty_of(story)) story.novelty = std::move(*novelty);
  return story;
}

}  // namespace accelopt::app
