// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "app/estimate.hpp"
#include "app/run.hpp"
#include "app/run_changes.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/estimate_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/run_start.hpp"
#include "cli/run_summary.hpp"
#include "cli/search_flags.hpp"
#include "report/progress.hpp"
#include "report/text_width.hpp"
#include "search/result.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

/// A run may be resumed from another folder.
std::string absolute(const std::string& folder) {
  std::error_code ignored;
  return folder.empty() ? folder : std::filesystem::absolute(folder, ignored).lexically_normal().string();
}

/// How a run is shown.
struct Showing {
  bool json = false;
  bool verbose = false;
};

std::unique_ptr<model::EventSink> progress_for(const Showing& showing) {
  if (showing.json) return report::make_json_progress(stdout);
  report::TerminalOptions options;
  options.live = isatty(STDERR_FILENO) == 1;
  options.detail = showing.verbose ? report::Detail::all : report::Detail::events;
  options.last_line = report::LastLine::left_out;
  return report::make_terminal_progress(stderr, std::move(options));
}

/// Says how a run ended: as JSON lines or for people.
Exit show_end(const app::RunEnd& end, const model::Task& task, const std::filesystem::path& workspace,
              const Showing& showing) {
  if (!end.result) {
    const base::ErrorCode code = end.result.error().code;
    const Exit exit = code == base::ErrorCode::invalid_argument ? Exit::check_failed : Exit::error;
    fmt::print(stderr, "accelopt: {}\n", report::printable_lines(end.result.error().message));
    if (exit == Exit::check_failed || end.discarded) return exit;
    const bool failed = code != base::ErrorCode::cancelled;
    fmt::print(stderr, "accelopt: what was done is kept; continue with: accelopt resume {}{}\n", end.run,
               failed
                   ? " (with --finish: asks nothing new and confirms what was found; with --model or --base-url: asks "
                     "there from now on)"
                   : "");
    return code == base::ErrorCode::cancelled ? Exit::interrupted : exit;
  }
  if (showing.json)
    fmt::print("{}\n", base::canonical(search::to_result_json(*end.result)));
  else
    fmt::print("{}{}", describe(*end.result), describe_winner(*end.result, task, workspace));
  return exit_of(end.result->outcome);
}

}  // namespace

base::Result<Exit> begin_search(const app::Shell& shell, const model::Task& task, const RunOptions& options) {
  const auto workspace = app::find_workspace(options.workspace);
  TRY_ASSIGN(const app::Config config, app::load_config(workspace, shell.environment));
  app::SearchFlags flags = options.search;
  flags.device.defer = absolute(options.defer);
  auto settings = app::settings_from(flags, config, shell.environment);
  if (!settings) return refuse_options(settings.error());
  auto arms = app::read_run_arms(options.against, task);
  if (!arms) return refuse_options(arms.error());
  if (!arms->empty() && !options.defer.empty())
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--against races the winner at the run's end, and --defer measures nothing here; compare it "
                           "afterwards with: accelopt eval TASK WINNER --against NAME=FILE"});
  settings->against = std::move(*arms);
  TRY(app::check_language(settings->agents, config, task));
  TRY_ASSIGN(const auto journal, app::open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const bool recipes, app::plays_recipes(settings->agents, config));
  if (!options.json) {
    fmt::print(stderr, "{}\n",
               recipes ? "no model is configured: the built-in recipes play all roles (accelopt run --help says how to "
                         "use a model)"
                       : "models: as configured");
  }
  TRY_ASSIGN(const search::Estimate estimate, app::estimate_run(task, *settings, config, journal.get()));
  if (options.json) {
    fmt::print("{}\n", base::canonical(app::json_line(estimate, task)));
  } else {
    fmt::print(stderr, "{}\n", options.verbose ? describe(estimate) : estimate_line(estimate));
  }
  auto progress = progress_for({options.json, options.verbose});
  TRY_ASSIGN(const app::RunEnd end,
             app::start_run(shell, *journal, {task, options.task, *settings, estimate}, config, *progress));
  progress.reset();  // its line is off the screen before anything else is written
  if (end.result) options.ended(*end.result);
  return show_end(end, task, journal->folder(), {options.json, options.verbose});
}

namespace {

base::Result<Exit> run(const app::Shell& shell, const RunOptions& options) {
  TRY_ASSIGN(const model::Task task, suites::load_task(options.task));
  return begin_search(shell, task, options);
}

struct ResumeFlags {
  std::string run = "last";
  std::string workspace;
  app::ResumeOptions change;
  bool json = false;
  bool verbose = false;
};

base::Result<Exit> resume(const app::Shell& shell, const ResumeFlags& flags) {
  app::ResumeOptions change = flags.change;
  change.defer = absolute(change.defer);
  const auto workspace = app::find_workspace(flags.workspace);
  TRY(app::open_workspace(workspace, journal::Access::read_only));  // says what to do where there is none
  TRY_ASSIGN(const auto journal, app::open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(flags.run));
  TRY_ASSIGN(const app::Config config, app::load_config(workspace, shell.environment));
  if (const auto usable = app::resumed_settings(run, change, config); !usable) return refuse_options(usable.error());
  if (run.status == model::RunStatus::done && !flags.json)
    fmt::print(stderr, "run {} is done already; its result, from the record:\n", run.id);
  auto progress = progress_for({flags.json, flags.verbose});
  const app::RunEnd end = app::resume_run(shell, *journal, run, config, *progress, change);
  progress.reset();
  return show_end(end, run.task, journal->folder(), {flags.json, flags.verbose});
}

}  // namespace

void add_run(CommandLine& app, Action& chosen) {
  Command command = app.add("run", "Search for a faster kernel, verify it, measure it, confirm it");
  command.footer(
      "Examples:\n"
      "  accelopt run suites/nkibench-cpu/matmul\n"
      "  accelopt run my_task --base-url http://localhost:8000/v1 --model openai/gpt-oss-120b\n"
      "  accelopt run my_task --iterations 10 --max-time 30m --json\n"
      "  accelopt run my_task --worker \"ssh host accelopt worker --device cpu:1\"\n"
      "  accelopt run my_task --defer bundles           then: accelopt worker --bundle bundles, accelopt resume\n"
      "  accelopt run my_task --record answers          and, with no model: accelopt run my_task --replay answers\n"
      "  accelopt run my_task --against theirs=colleague.cpp    and how does the winner compare with that one?\n"
      "  accelopt run my_task --mailbox questions --exit-when-waiting    then answer there, and: accelopt resume\n");
  auto options = std::make_shared<RunOptions>();
  command.option("task", &options->task, "Folder of the task (task.toml, reference, baseline)").required();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.option("--defer", &options->defer,
                 "Measure nothing here: put evaluations into bundles in this folder, and end with exit code 6; after "
                 "they were executed elsewhere, resume (docs/devices.md)");
  command.option("--against", &options->against,
                 "At the end compare the winner with this. NAME=FILE: another kernel of the task, raced in pairs with "
                 "the winner; NAME=!COMMAND: a program of yours that prints the times of its calls (docs/tasks.md); "
                 "repeatable");
  command.flag("--json", options->json, "Events and result as JSON lines (docs/json.md)");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  declare(command, options->search);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return run(shell, *options); }; });
}

void add_resume(CommandLine& app, Action& chosen) {
  Command command = app.add("resume", "Continue a run that was killed, interrupted or failed");
  command.footer(
      "Examples:\n"
      "  accelopt resume\n"
      "  accelopt resume 20261121-1015\n"
      "  accelopt resume last --finish          confirms what was found before the model failed for good\n"
      "  accelopt resume last --bundle returned/0001-3fa9c1d2     a bundle that was executed elsewhere\n"
      "  accelopt resume last --worker \"ssh host accelopt worker --device cpu:1\"\n"
      "  accelopt resume last --base-url http://localhost:8001/v1       the server has another port now\n"
      "A run continues to measure where it last did, and to ask the same models: --device, --worker, --defer, --model, "
      "--base-url, --api and --key-env stay in force until another is given.\n");
  auto options = std::make_shared<ResumeFlags>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.option("--bundle", &options->change.bundle,
                 "An executed bundle, or a folder of them, to import (default: where they were written)");
  command.option("--device", &options->change.device, "From now on measure here: " + app::device_names());
  declare_workers(command, options->change.workers,
                  "From now on measure through this worker; may be repeated (docs/devices.md)");
  command.option("--defer", &options->change.defer,
                 "From now on write bundles into this folder; missing ones are written again");
  command.option("--model", &options->change.model,
                 "From now on ask this: a model of accelopt.toml, or one at the run's --base-url");
  command.option("--base-url", &options->change.base_url,
                 "From now on ask there; give --key-env again if it needs a key");
  command.option("--api", &options->change.api, "Protocol of that endpoint from now on; as --base-url")
      .one_of({"openai", "anthropic", "gemini"});
  command.option("--key-env", &options->change.key_env,
                 "From now on this environment variable holds the key for --base-url");
  command.flag("--exit-when-waiting", options->change.exit_when_waiting,
               "End with exit code 6 when nothing can continue without an answer in the mailbox");
  command.flag("--finish", options->change.finish,
               "Ask nothing new: race and confirm what was found, and end the run, as stop does");
  command.flag("--json", options->json, "Events and result as JSON lines (docs/json.md)");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return resume(shell, *options); }; });
}

}  // namespace accelopt::cli
