// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/steer.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"

namespace accelopt::cli {
namespace {

struct SteerOptions {
  std::string run;
  std::string hint;
  std::string workspace;
};

base::Result<Exit> steer(const app::Shell& shell, const SteerOptions& options) {
  const auto run = app::steer(shell, app::find_workspace(options.workspace), options.run, options.hint);
  if (!run) return refuse_options(run.error());
  fmt::print("the planners of run {}'s next round will see it\n", *run);
  return Exit::done;
}

}  // namespace

void add_steer(CommandLine& app, Action& chosen) {
  Command command = app.add("steer", "Give the next round's planners of a run a hint");
  command.footer(
      "Examples:\n"
      "  accelopt steer \"the inner loop misses the cache: try panels of 64 columns\"\n"
      "  accelopt steer \"no more unrolling\" --run 20261121-1015\n");
  auto options = std::make_shared<SteerOptions>();
  command.option("hint", &options->hint, "What they should take into account").required();
  command.option("--run", &options->run, "A run's id, the beginning of one, or last (default: the active one)");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return steer(shell, *options); }; });
}

}  // namespace accelopt::cli
