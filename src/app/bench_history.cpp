// SPDX-License-Identifier: Apache-2.0
#include "app/bench_history.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "journal/suite_log.hpp"
#include "model/usage.hpp"

namespace accelopt::app {

using base::Json;
using base::Result;

namespace {

std::string state_of(const journal::SuiteRun& run) {
  if (run.state != to_string(model::RunStatus::running)) return run.state;
  // It gives no sign of life of its own: of another machine's process nothing is known.
  const journal::Session session{.pid = run.process.pid, .host = run.process.host, .born = run.process.born};
  switch (journal::is_alive(session)) {
    case journal::Alive::yes:
      return std::string(to_string(model::RunStatus::running));
    case journal::Alive::no:
      return "cut short";
    case journal::Alive::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string text_in(const Json& object, const char* name) {
  const auto value = object.find(name);
  return value != object.end() && value->is_string() ? value->get<std::string>() : std::string();
}

/// What a result object (docs/json.md) says of the whole run.
void read_result(const Json& result, report::SuiteTask& task) {
  if (!result.is_object()) return;
  task.outcome = text_in(result, "outcome");
  task.device = text_in(result, "device");
  const std::string end = text_in(result, "stopped_by");
  task.cut_short = end == to_string(model::EndReason::signal) || end == to_string(model::EndReason::stop);
  if (const auto speedup = result.find("speedup"); speedup != result.end() && speedup->is_object())
    task.speedup = speedup->get<model::Interval>();
  base::read_field(result, "evaluations", task.evaluations);
  base::read_field(result, "wall_seconds", task.wall_seconds);
  const Json usage = result.value("usage", Json::object());
  const auto usd = usage.find("usd");
  if (usd != usage.end() && usd->is_number()) task.usd = usd->get<double>();
}

Result<report::SuiteTask> task_of(const journal::SuiteEntry& entry, journal::Journal& journal,
                                  journal::Control& control) {
  report::SuiteTask task{.task = entry.task, .run = entry.run, .error = entry.error};
  if (entry.run.empty()) return task;
  TRY_ASSIGN(const journal::RunInfo run, journal.find_run(entry.run));
  TRY_ASSIGN(const RunState state, app::state_of(control, run.id));
  task.state = to_string(state.status);
  if (task.state == to_string(model::RunStatus::done)) task.error.clear();  // it failed, and was resumed
  const Json result = run.result.value_or(Json());
  read_result(result, task);
  TRY_ASSIGN(const auto steps, journal.steps(run.id));
  task.convergence = report::convergence_of(steps, result);
  return task;
}

/// "NAME at ADDRESS (temperature 0.2, reasoning high)": whatever changes what it answers.
std::string description_of(const ModelConfig& model) {
  if (model.api == "mailbox") return "mailbox " + model.dir;
  std::vector<std::string> more;
  if (model.temperature) more.push_back(fmt::format("temperature {:g}", *model.temperature));
  if (!model.reasoning.effort.empty()) more.push_back("reasoning " + model.reasoning.effort);
  if (model.reasoning.tokens) more.push_back(fmt::format("reasoning of {} tokens", *model.reasoning.tokens));
  if (model.max_output_tokens) more.push_back(fmt::format("at most {} tokens", *model.max_output_tokens));
  return fmt::format("{} at {}{}", model.model, model.base_url.empty() ? model.api : model.base_url,
                     more.empty() ? "" : fmt::format(" ({})", fmt::join(more, ", ")));
}

}  // namespace

Result<std::vector<report::SuiteHistoryEntry>> read_history(const std::filesystem::path& workspace,
                                                            const HistoryFilter& filter) {
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto log, journal::open_suite_log(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto runs, log->list());
  const auto wanted = [&](const std::string& task) {
    return filter.only.empty() || std::ranges::find(filter.only, task) != filter.only.end();
  };
  std::vector<report::SuiteHistoryEntry> history;
  for (const journal::SuiteRun& run : runs) {
    if (!filter.suite.empty() && run.suite != suite_path(filter.suite)) continue;
    report::SuiteHistoryEntry entry{.id = run.id,
                                    .suite = run.suite,
                                    .created = run.created,
                                    .program_version = run.program_version,
                                    .state = state_of(run),
                                    .settings = run.settings};
    std::ranges::copy_if(run.tasks, std::back_inserter(entry.tasks), wanted);
    for (const journal::SuiteEntry& member : run.entries) {
      if (!wanted(member.task)) continue;
      TRY_ASSIGN(auto task, task_of(member, *journal, *control));
      entry.begun.push_back(std::move(task));
    }
    if (!entry.tasks.empty()) history.push_back(std::move(entry));
  }
  return history;
}

Result<Json> suite_settings(const RunSettings& settings, const Config& config) {
  Json out = settings.search;
  Json agents = Json::object();
  TRY_ASSIGN(const bool recipes, plays_recipes(settings.agents, config));
  TRY_ASSIGN(const auto roles, models_of_roles(settings.agents, config));
  for (const RoleModel& role : roles) {
    agents[std::string(to_string(role.role))] =
        settings.agents.replay.empty() ? description_of(role.config) : "recorded answers in " + settings.agents.replay;
  }
  if (recipes)
    for (const auto& [role, name] : model::Names<model::AgentRole>::kTable) agents[std::string(name)] = "recipes";
  out["agents"] = std::move(agents);
  out["prompts"] = settings.agents.prompts;
  out["schedule"] = search::to_string(settings.schedule);
  out["allow_regression"] = settings.measure.allow_regression;
  out["protocol"] = settings.measure.protocol;
  out["compiler"] = settings.device.compiler;
  std::string commands;
  for (const WorkerConfig& worker : settings.device.workers)
    commands += (commands.empty() ? "worker " : ", ") + worker.command;
  out["device"] = commands.empty() ? settings.device.device : commands;
  return out;
}

std::string suite_path(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

}  // namespace accelopt::app
