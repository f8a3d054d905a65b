// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_player.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "app/run.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "model/measure.hpp"
#include "targets/repo/repo_task.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::Result;

/// Tells what begins as a line.
class GameSteps final : public model::EventSink {
 public:
  explicit GameSteps(const std::function<void(const std::string&)>& step) : step_(step) {}
  void on(const model::Event& event) override {
    if (const auto* const moved = std::get_if<model::AttemptMoved>(&event))
      step_(model::to_string(moved->identity) + (moved->title.empty() ? "" : ": " + moved->title));
    else if (const auto* const confirming = std::get_if<model::Confirming>(&event))
      step_("confirming " + confirming->title);
    else if (const auto* const note = std::get_if<model::Note>(&event))
      step_(note->text);
  }

 private:
  const std::function<void(const std::string&)>& step_;
};

/// Seconds in which at least one question was on its way.
double waiting_for_models(const std::vector<journal::StepRecord>& steps) {
  using std::chrono::milliseconds;
  std::vector<std::pair<milliseconds, milliseconds>> spans;
  for (const journal::StepRecord& step : steps) {
    if (model::step_kind(step.key.kind) == model::StepKind::chat)
      spans.emplace_back(step.started, step.started + step.duration);
  }
  std::ranges::sort(spans);
  milliseconds sum{0};
  milliseconds until{0};
  for (const auto& [from, to] : spans) {
    if (to <= until) continue;
    sum += to - std::max(from, until);
    until = to;
  }
  return std::chrono::duration<double>(sum).count();
}

void take_over(const search::RunResult& result, report::ResolveLine& line) {
  model::Usage usage;
  for (const auto& [role, own] : result.usage) usage += own;
  line.calls = usage.calls;
  line.tokens = usage.tokens();
  line.usd = usage.total_usd();
  line.evaluations = result.evaluations;
  line.device_seconds = std::min(result.device_seconds, line.seconds);
  line.strategy = result.strategy;
  line.reviewer = result.reviewed;
  switch (result.outcome) {
    case search::RunOutcome::improved:
      line.verdict = model::measure_of(result.goal).better;
      line.gain = result.confirmation->ratio->estimate;
      break;
    case search::RunOutcome::no_gain:
    case search::RunOutcome::budget:
      line.verdict = "not_" + std::string(model::measure_of(result.goal).better);
      break;
    case search::RunOutcome::interrupted:
    case search::RunOutcome::waiting:
      line.error = std::string(to_string(result.outcome)) + (result.reason.empty() ? "" : ": " + result.reason);
      break;
  }
}

/// The folder of the game's own answers.
void go_below(std::string& folder, const std::string& name) {
  if (!folder.empty()) folder = (fs::path(folder) / name).string();
}

}  // namespace

Result<ModelGameEnd> play_with_models(const Shell& shell, const Config& config, const ModelGame& game,
                                      report::ResolveLine& line) {
  const auto began = std::chrono::steady_clock::now();
  SearchFlags flags = game.flags;
  go_below(flags.agents.mailbox, game.name);
  go_below(flags.agents.record, game.name);
  go_below(flags.agents.replay, game.name);
  flags.seed = line.seed;
  flags.knowledge = game.knowledge;
  // What memory holds is the game's, whatever is recorded.
  if (flags.memory.empty()) flags.memory = search::to_string(search::Recall::ranked);
  GameSteps events(game.step);
  const auto play = [&]() -> Result<ModelGameEnd> {
    TRY_ASSIGN(const model::Task task, targets::repo::load_repo_task(game.task));
    line.base = task.repo->commit;
    TRY_ASSIGN(RunSettings settings, settings_from(flags, config, shell.environment));
    const auto at_most = [](auto& limit, auto most) { limit = limit ? std::min(*limit, most) : most; };
    at_most(settings.search.max_seconds, line.budget_seconds);
    at_most(settings.search.max_evaluations, line.budget_evaluations);
    settings.search.enough = game.enough;
    TRY_ASSIGN(const auto journal, open_workspace(game.workspace, journal::Access::read_write));
    TRY_ASSIGN(const journal::RunInfo run, begin_run(*journal, task, game.task, settings));
    const auto result = carry_out(shell, *journal, run, config, events);
    line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!result) return tl::make_unexpected(result.error());
    take_over(*result, line);
    TRY_ASSIGN(const auto steps, journal->steps(run.id));
    line.model_seconds = std::min(waiting_for_models(steps), line.seconds);
    return ModelGameEnd{run.id};
  };
  auto end = play();
  if (end) return end;
  line.error = end.error().message;
  return ModelGameEnd{};
}

Result<Json> player_of(const SearchFlags& flags, const Config& config) {
  TRY_ASSIGN(const bool recipes, plays_recipes(flags.agents, config));
  if (recipes) return Json{{"player", "recipes"}};
  TRY_ASSIGN(const RunSettings settings,
             settings_from(flags, config, [](const std::string&) { return std::optional<std::string>(); }));
  const search::SearchSettings& search = settings.search;
  Json player = {{"player", "models"},         {"iterations", search.iterations}, {"beam", search.beam},
                 {"plans", search.plans},      {"attempts", search.attempts},     {"fixes", search.fixes},
                 {"patience", search.patience}};
  // Before this, a game that was resolved went on to its last round, which counted.
  player["ends"] = "at the bar";
  if (search.developers > 0) player["developers"] = search.developers;
  if (settings.tests > 0) player["tests"] = settings.tests;
  TRY_ASSIGN(const auto roles, models_of_roles(settings.agents, config));
  std::set<std::string> names;
  for (const RoleModel& role : roles) names.insert(role.config.model);
  player["models"] = flags.agents.replay.empty() ? base::joined(names, ", ") : "recorded answers";
  return player;
}

}  // namespace accelopt::app
