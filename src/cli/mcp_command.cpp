// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/signals.hpp"
#include "mcp/desk.hpp"
#include "mcp/stdio.hpp"

namespace accelopt::cli {
namespace {

struct McpOptions {
  std::string workspace;
  std::vector<std::string> folders;
  int most_runs = 4;
};

base::Result<Exit> serve(const app::Shell& shell, const McpOptions& options) {
  say_on_stop("");
  TRY_ASSIGN(mcp::Folders folders,
             mcp::Folders::of(options.folders.empty() ? std::vector<std::string>{"."} : options.folders));
  mcp::Desk desk{shell, std::filesystem::absolute(app::find_workspace(options.workspace)).lexically_normal(),
                 std::move(folders), options.most_runs};
  const mcp::Catalogue catalogue = mcp::make_catalogue(desk);
  TRY(mcp::serve_streams(catalogue, STDIN_FILENO, STDOUT_FILENO, shell.stops.wind_down));
  return Exit::done;
}

}  // namespace

void add_mcp(CommandLine& app, Action& chosen) {
  Command command = app.add("mcp", "Serve an agent over the Model Context Protocol, on standard input and output");
  command.footer(
      "Examples:\n"
      "  accelopt mcp\n"
      "  accelopt mcp --folder ~/kernels --workspace ~/kernels/.accelopt\n"
      "A client starts it; what it offers is described in docs/mcp.md.\n");
  auto options = std::make_shared<McpOptions>();
  command.option("--folder", &options->folders,
                 "A folder that clients may use, with all below it; may be repeated (default: this one)");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.option("--max-runs", &options->most_runs, "Most runs that clients have going at the same time")
      .at_least(1)
      .show_default();
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return serve(shell, *options); }; });
}

}  // namespace accelopt::cli
