// SPDX-License-Identifier: Apache-2.0
#include "app/novelty.hpp"

#include <algorithm>

#include "app/run_story.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "model/tuning.hpp"
#include "recipes/engine.hpp"
#include "syntax/clang.hpp"

namespace accelopt::app {
namespace {

using base::Result;

constexpr std::string_view kRecipes = "recipes";  ///< how they sign their answers

/// The generated task.h, as the opening of the task has it.
Result<std::string> task_header_of(const std::filesystem::path& workspace, const std::string& run) {
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto steps, journal->steps(run));
  for (const journal::StepRecord& step : steps) {
    if (model::step_kind(step.key.kind) == model::StepKind::open) return base::text_at(step.output, "task_header");
  }
  return std::string();
}

/// Whether one recipe turns the one source into the other.
bool one_recipe_makes(const syntax::Clang& clang, const recipes::KernelSource& parent, const std::string& child) {
  const auto applications = recipes::enumerate(clang, parent);
  if (!applications) return false;  // what they cannot read they cannot change
  const auto wanted = model::canonical_tokens(child);
  return std::ranges::any_of(*applications, [&](const recipes::Application& application) {
    const auto made = recipes::apply(clang, parent, application);
    return made && model::canonical_tokens(*made) == wanted;
  });
}

std::string text_alone(const model::Solution& solution) {
  return solution.sources.empty() ? std::string() : model::main_text(model::standing_alone(solution));
}

}  // namespace

Result<std::optional<report::Novelty>> novelty_of(const std::filesystem::path& workspace, const std::string& run) {
  TRY_ASSIGN(const report::RunStory story, read_run_story(workspace, run));
  const report::StoryAttempt* const winner = story.winner();
  if (winner == nullptr) return std::nullopt;
  report::Novelty out;
  const model::Language language = story.run.task.baseline.language;
  for (const report::StoryAttempt* step : story.lineage(*winner)) {
    ++out.steps;
    if (step->author == kRecipes) continue;
    if (!recipes::rewrites(language)) {
      ++out.beyond;
      continue;
    }
    TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
    TRY_ASSIGN(std::string header, task_header_of(workspace, story.run.id));
    const report::StoryAttempt* const parent = story.find(step->parent);
    const recipes::KernelSource before{
        .source = text_alone(parent != nullptr ? parent->kernel.solution() : story.run.task.baseline),
        .task_header = std::move(header),
        .language = language,
        .threads = story.run.task.cpu.threads};
    out.beyond += one_recipe_makes(clang, before, text_alone(step->kernel.solution())) ? 0 : 1;
  }
  return out;
}

}  // namespace accelopt::app
