// SPDX-License-Identifier: Apache-2.0
// What every subcommand has: a function that declares it, and an action that main runs when it was chosen.
#pragma once

#include <functional>
#include <string>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/exit.hpp"

namespace accelopt::cli {

using Action = std::function<base::Result<Exit>(app::Shell&)>;

/// Each declares one subcommand below `app`; parsing it sets `chosen`. Options live as long as the app.
void add_init(CommandLine& app, Action& chosen);
void add_lint(CommandLine& app, Action& chosen);
void add_import(CommandLine& app, Action& chosen);
void add_doctor(CommandLine& app, Action& chosen);
void add_estimate(CommandLine& app, Action& chosen);
void add_run(CommandLine& app, Action& chosen);
void add_resume(CommandLine& app, Action& chosen);
void add_replay(CommandLine& app, Action& chosen);
void add_watch(CommandLine& app, Action& chosen);
void add_steer(CommandLine& app, Action& chosen);
void add_stop(CommandLine& app, Action& chosen);
void add_runs(CommandLine& app, Action& chosen);
void add_show(CommandLine& app, Action& chosen);
void add_explain(CommandLine& app, Action& chosen);
void add_report(CommandLine& app, Action& chosen);
void add_best(CommandLine& app, Action& chosen);
void add_diff(CommandLine& app, Action& chosen);
void add_evidence(CommandLine& app, Action& chosen);
void add_verify(CommandLine& app, Action& chosen);
void add_export(CommandLine& app, Action& chosen);
void add_eval(CommandLine& app, Action& chosen);
void add_ablate(CommandLine& app, Action& chosen);
void add_bench(CommandLine& app, Action& chosen);
void add_selftest(CommandLine& app, Action& chosen);
void add_refactor(CommandLine& app, Action& chosen);
void add_review(CommandLine& app, Action& chosen);
void add_reviewer(CommandLine& app, Action& chosen);
void add_mcp(CommandLine& app, Action& chosen);
void add_serve(CommandLine& app, Action& chosen);
void add_memory(CommandLine& app, Action& chosen);
void add_worker(CommandLine& app, Action& chosen);
void add_config(CommandLine& app, Action& chosen);
void add_gc(CommandLine& app, Action& chosen);
void add_completion(CommandLine& app, Action& chosen);

}  // namespace accelopt::cli
