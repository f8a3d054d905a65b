// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/watch.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "journal/control.hpp"

namespace accelopt::cli {
namespace {

struct StopOptions {
  std::string run;
  std::string workspace;
  bool now = false;
};

base::Result<Exit> stop(const StopOptions& options) {
  auto run = app::WatchedRun::open(app::find_workspace(options.workspace), options.run);
  if (!run) return refuse_options(run.error());
  const app::RunState& state = run->state();
  if (state.status == model::RunStatus::dead)
    return base::fail(base::ErrorCode::unavailable, app::death_notice(run->id(), state));
  if (state.status != model::RunStatus::running) {
    if (state.status == model::RunStatus::failed)
      fmt::print("run {} has failed already; to confirm what it found until then: accelopt resume {} --finish\n",
                 run->id(), run->id());
    else
      fmt::print("run {} has ended already: {}\n", run->id(), to_string(state.status));
    return Exit::done;
  }
  TRY(run->ask(options.now ? journal::Request::stop_now : journal::Request::stop));
  const std::string who = state.session ? journal::process_of(*state.session) : std::string("its process");
  fmt::print("asked {} to {}\n", who,
             options.now
                 ? fmt::format("end run {} at once; continue it later with: accelopt resume {}", run->id(), run->id())
                 : fmt::format("finish run {}: what it has is raced and confirmed; see it end with: accelopt "
                               "watch {}",
                               run->id(), run->id()));
  if (state.alive != journal::Alive::unknown) return Exit::done;
  TRY_ASSIGN(const bool lives, run->shows_life());
  if (!lives)
    fmt::print(stderr,
               "accelopt: {} has given no sign of life lately, and may not hear this; if it is dead, continue the run "
               "with: accelopt resume {}\n",
               who, run->id());
  return Exit::done;
}

}  // namespace

void add_stop(CommandLine& app, Action& chosen) {
  Command command = app.add("stop", "Ask a run in another process to finish with what it has");
  command.footer(
      "Examples:\n"
      "  accelopt stop            starts nothing new; races and confirms what was found\n"
      "  accelopt stop --now      ends at once, without a confirmation; accelopt resume continues it\n");
  auto options = std::make_shared<StopOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last (default: the active one)");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--now", options->now, "End at once, without a confirmation; resume continues it");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return stop(*options); }; });
}

}  // namespace accelopt::cli
