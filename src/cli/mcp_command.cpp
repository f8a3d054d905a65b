// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "cli/signals.hpp"
#include "mcp/desk.hpp"
#include "mcp/http.hpp"
#include "mcp/stdio.hpp"
#include "page/site.hpp"

namespace accelopt::cli {
namespace {

struct McpOptions {
  std::string workspace;
  std::vector<std::string> folders;
  int most_runs = 4;
  mcp::HttpOptions http;
};

/// Serves with the tools that the options allow.
using Serve = std::function<base::Result<void>(const mcp::Catalogue&, mcp::Desk&)>;

base::Result<Exit> serve(const app::Shell& shell, const McpOptions& options, const Serve& transport) {
  say_on_stop("");
  TRY_ASSIGN(mcp::Folders folders,
             mcp::Folders::of(options.folders.empty() ? std::vector<std::string>{"."} : options.folders));
  // A client may start the server anywhere.
  const std::filesystem::path from = options.folders.empty() ? std::filesystem::path() : folders.all().front();
  mcp::Desk desk{shell, std::filesystem::absolute(app::find_workspace(options.workspace, from)).lexically_normal(),
                 std::move(folders), options.most_runs};
  const mcp::Catalogue catalogue = mcp::make_catalogue(desk);
  TRY(transport(catalogue, desk));
  return Exit::done;
}

base::Result<Exit> serve_streams(const app::Shell& shell, const McpOptions& options) {
  return serve(shell, options, [&](const mcp::Catalogue& catalogue, mcp::Desk&) {
    return mcp::serve_streams(catalogue, STDIN_FILENO, STDOUT_FILENO, shell.stops.wind_down);
  });
}

base::Result<Exit> serve_http(const app::Shell& shell, McpOptions options) {
  options.http.token = shell.environment("ACCELOPT_MCP_TOKEN").value_or("");
  options.http.listening = [](const std::string& url) {
    fmt::print(stderr, "the page: {}\n", url.substr(0, url.rfind('/') + 1));
    fmt::print("{}\n", url);
    std::fflush(stdout);
  };
  const auto served = serve(shell, options, [&](const mcp::Catalogue& catalogue, mcp::Desk& desk) {
    options.http.site = page::make_site(desk);
    return mcp::serve_http(catalogue, options.http, shell.stops.wind_down);
  });
  return served ? served : refuse_options(served.error());
}

void declare(Command& command, McpOptions& options) {
  command.option("--folder", &options.folders,
                 "A folder that clients may use, with all below it; may be repeated (default: this one)");
  command.option("--workspace", &options.workspace,
                 "Folder of the runs (default: the nearest .accelopt in the first --folder or above)");
  command.option("--max-runs", &options.most_runs, "Maximum number of runs that clients have active at the same time")
      .at_least(1)
      .show_default();
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
  declare(command, *options);
  command.chosen(
      [&chosen, options] { chosen = [options](app::Shell& shell) { return serve_streams(shell, *options); }; });
}

void add_serve(CommandLine& app, Action& chosen) {
  Command command =
      app.add("serve", "Serve a page to watch and steer runs, and the Model Context Protocol for agents, over HTTP");
  command.footer(
      "Examples:\n"
      "  accelopt serve --port 8123\n"
      "  ACCELOPT_MCP_TOKEN=... accelopt serve --address 0.0.0.0 --port 8123\n"
      "It prints its address and serves until Ctrl-C; runs that it started continue. Open / in a browser for the page "
      "(docs/page.md); agents use /mcp (docs/mcp.md).\n");
  auto options = std::make_shared<McpOptions>();
  command
      .option("--address", &options->http.address,
              "IPv4 address to listen on; one that others can reach needs ACCELOPT_MCP_TOKEN")
      .show_default();
  command.option("--port", &options->http.port, "Port to listen on; 0: any that is free").show_default();
  declare(command, *options);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return serve_http(shell, *options); }; });
}

}  // namespace accelopt::cli
