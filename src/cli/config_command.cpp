// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/settings_list.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/text_table.hpp"

namespace accelopt::cli {
namespace {

struct ConfigOptions {
  std::string workspace;
  bool json = false;
  app::SearchFlags search;
};

base::Result<Exit> show_config(const app::Shell& shell, const ConfigOptions& options) {
  const auto workspace = app::find_workspace(options.workspace);
  TRY_ASSIGN(const app::Config config, app::load_config(workspace, shell.environment));
  const auto chosen = app::settings_from(options.search, config, shell.environment);
  if (!chosen) return refuse_options(chosen.error());
  TRY_ASSIGN(const auto settings,
             app::list_settings(shell, {workspace, options.workspace, options.search, config}, *chosen));
  if (options.json) {
    fmt::print("{}\n", base::canonical(app::to_json(settings)));
    return Exit::done;
  }
  report::TextTable table({{"setting"}, {"value"}, {"from"}});
  for (const app::Setting& setting : settings) table.add({setting.name, setting.value, setting.from});
  fmt::print("{}", table.render());
  return Exit::done;
}

}  // namespace

void add_config(CommandLine& app, Action& chosen) {
  Command command = app.add("config", "List every setting of a run, its value and where it comes from");
  command.footer(
      "Examples:\n"
      "  accelopt config\n"
      "  accelopt config --preset paper --beam 4      what a run with these flags would use\n"
      "Takes the flags of run; starts nothing and asks no model. Keys and passwords are never shown.\n");
  auto options = std::make_shared<ConfigOptions>();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  declare(command, options->search);
  command.chosen(
      [&chosen, options] { chosen = [options](app::Shell& shell) { return show_config(shell, *options); }; });
}

}  // namespace accelopt::cli
