// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/estimate.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/estimate_text.hpp"
#include "cli/search_flags.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct EstimateOptions {
  std::string task;
  std::string workspace;
  bool json = false;
  app::SearchFlags search;
};

base::Result<Exit> run_estimate(const app::Shell& shell, const EstimateOptions& options) {
  TRY_ASSIGN(const model::Task task, suites::load_task(options.task));
  const auto workspace = app::find_workspace(options.workspace);
  TRY_ASSIGN(const app::Config config, app::load_config(workspace, shell.environment));
  const auto settings = app::settings_from(options.search, config, shell.environment);
  if (!settings) return refuse_options(settings.error());
  std::unique_ptr<journal::Journal> history;
  std::error_code ignored;
  if (std::filesystem::exists(workspace / "accelopt.db", ignored)) {
    TRY_ASSIGN(history, app::open_workspace(workspace, journal::Access::read_only));
  }
  TRY_ASSIGN(const search::Estimate estimate, app::estimate_run(task, *settings, config, history.get()));
  if (options.json) {
    fmt::print("{}\n", base::canonical(app::json_line(estimate, task)));
    return Exit::done;
  }
  TRY_ASSIGN(const auto roles, app::models_of_roles(settings->agents, config));
  for (const app::RoleModel& role : roles)
    fmt::print("{:<10} {}: {}\n", to_string(role.role), role.config.model, app::price_text(role.config));
  if (roles.empty()) fmt::print("the built-in recipes play all roles: no model is asked\n");
  fmt::print("\n{}", describe(estimate));
  return Exit::done;
}

}  // namespace

void add_estimate(CommandLine& app, Action& chosen) {
  Command command = app.add("estimate", "Predict a run's calls, tokens, dollars, device time and wall time");
  command.footer(
      "Examples:\n"
      "  accelopt estimate suites/nkibench-cpu/matmul\n"
      "  accelopt estimate my_task --model default --iterations 10 --max-usd 5\n"
      "It asks no model and measures nothing. Earlier runs in the workspace improve it.\n");
  auto options = std::make_shared<EstimateOptions>();
  command.option("task", &options->task, "Folder of the task (task.toml, reference, baseline)").required();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  declare(command, options->search);
  command.chosen(
      [&chosen, options] { chosen = [options](app::Shell& shell) { return run_estimate(shell, *options); }; });
}

}  // namespace accelopt::cli
