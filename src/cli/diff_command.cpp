// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/run_state.hpp"
#include "app/winner.hpp"
#include "app/workspace.hpp"
#include "base/unified_diff.hpp"
#include "cli/command.hpp"

namespace accelopt::cli {
namespace {

struct DiffOptions {
  std::string run = "last";
  std::string workspace;
};

base::Result<Exit> diff(const DiffOptions& options) {
  TRY_ASSIGN(const auto journal,
             app::open_workspace(app::find_workspace(options.workspace), journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, app::find_run(*journal, options.run));
  TRY_ASSIGN(const model::Solution winner, app::winner_of(run));
  const std::string& name = run.task.baseline.sources.front().name;
  fmt::print("{}", base::unified_diff(model::changeable_text(run.task.baseline), model::changeable_text(winner),
                                      "a/" + name, "b/" + name));
  return Exit::done;
}

}  // namespace

void add_diff(CommandLine& app, Action& chosen) {
  Command command = app.add("diff", "Show what the winner changed, as a unified diff");
  command.footer("Example:\n  accelopt diff last\n");
  auto options = std::make_shared<DiffOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return diff(*options); }; });
}

}  // namespace accelopt::cli
