// SPDX-License-Identifier: Apache-2.0
// What every subcommand has: a function that declares it, and an action that main runs when it was chosen.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "cli/exit.hpp"
#include "search/attempt.hpp"

namespace CLI {
class App;
}

namespace accelopt::cli {

/// What a command works with besides its own options.
struct Shell {
  std::string program;  ///< path of this very binary
  search::Stops stops;  ///< first Ctrl-C: wind down; second: abort
};

using Action = std::function<base::Result<Exit>(Shell&)>;

/// Each declares one subcommand below `app`; parsing it sets `chosen`. Options live as long as the app.
void add_init(CLI::App& app, Action& chosen);
void add_lint(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_resume(CLI::App& app, Action& chosen);
void add_replay(CLI::App& app, Action& chosen);
void add_runs(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_best(CLI::App& app, Action& chosen);
void add_diff(CLI::App& app, Action& chosen);
void add_eval(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_worker(CLI::App& app, Action& chosen);

}  // namespace accelopt::cli
