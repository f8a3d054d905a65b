// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/estimate.hpp"
#include "cli/run_summary.hpp"
#include "cli/search_flags.hpp"
#include "cli/session.hpp"
#include "cli/workspace.hpp"
#include "report/progress.hpp"
#include "search/result.hpp"
#include "suites/task_folder.hpp"
#include "targets/cuda/tool_folder.hpp"

namespace accelopt::cli {
namespace {

struct RunOptions {
  std::string task;
  std::string workspace;
  std::string defer;
  bool json = false;
  bool verbose = false;
  SearchFlags search;
};

/// A run may be resumed from another folder.
std::string absolute(const std::string& folder) {
  std::error_code ignored;
  return folder.empty() ? folder : std::filesystem::absolute(folder, ignored).lexically_normal().string();
}

enum class Begin { anew, again };

/// How a run is shown, and how it came about.
struct Showing {
  bool json = false;
  bool verbose = false;
  Begin begin = Begin::anew;
};

std::unique_ptr<model::EventSink> progress_for(const Showing& showing) {
  if (showing.json) return report::make_json_progress(stdout);
  report::TerminalOptions options;
  options.live = isatty(STDERR_FILENO) == 1;
  options.detail = showing.verbose ? report::Detail::all : report::Detail::events;
  options.last_line = report::LastLine::left_out;
  return report::make_terminal_progress(stderr, std::move(options));
}

/// Shows a run's events and, at the end, its result: as JSON lines or for people.
base::Result<Exit> carry_out_and_show(Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                                      const Config& config, const Showing& showing) {
  auto progress = progress_for(showing);
  auto result = carry_out(shell, journal, run, config, *progress);
  progress.reset();                                // its line is off the screen before anything else is written
  targets::cuda::remove_abandoned_tool_folders();  // of a worker that was killed
  if (!result) {
    fmt::print(stderr, "accelopt: {}\n", result.error().message);
    const bool check = result.error().code == base::ErrorCode::invalid_argument;
    if (showing.begin == Begin::anew && discard_failed_start(journal, run.id, result.error()))
      return check ? Exit::check_failed : Exit::error;
    if (!check) fmt::print(stderr, "accelopt: what was done is kept; continue with: accelopt resume {}\n", run.id);
    if (result.error().code == base::ErrorCode::cancelled) return Exit::interrupted;
    return check ? Exit::check_failed : Exit::error;
  }
  if (showing.json)
    fmt::print("{}\n", base::canonical(search::to_result_json(*result)));
  else
    fmt::print("{}{}", describe(*result), describe_winner(*result, run.task, journal.folder()));
  return exit_of(result->outcome);
}

base::Result<Exit> start_run(Shell& shell, const RunOptions& options) {
  TRY_ASSIGN(const model::Task task, suites::load_task(options.task));
  const auto workspace = find_workspace(options.workspace);
  TRY_ASSIGN(const Config config, load_config(workspace));
  SearchFlags flags = options.search;
  flags.device.defer = absolute(options.defer);
  const auto settings = settings_from(flags, config);
  if (!settings) return refuse_options(settings.error());
  TRY(check_language(settings->agents, config, task));
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const bool recipes, plays_recipes(settings->agents, config));
  if (!options.json) {
    fmt::print(stderr, "{}\n",
               recipes ? "no model is configured: the built-in recipes play all roles (accelopt run --help says how to "
                         "use a model)"
                       : "models: as configured");
  }
  TRY_ASSIGN(const search::Estimate estimate, estimate_run(task, *settings, config, journal.get()));
  if (options.json) {
    fmt::print("{}\n", base::canonical(json_line(estimate, task)));
  } else {
    fmt::print(stderr, "{}\n", options.verbose ? describe(estimate) : estimate_line(estimate));
  }
  TRY_ASSIGN(const journal::RunInfo run, begin_run(*journal, task, options.task, *settings));
  TRY(record_estimate(*journal, run.id, estimate));
  return carry_out_and_show(shell, *journal, run, config, {options.json, options.verbose, Begin::anew});
}

struct ResumeOptions {
  std::string run = "last";
  std::string workspace;
  std::string device;
  std::vector<WorkerConfig> workers;
  std::string defer;
  std::string bundle;
  bool json = false;
  bool verbose = false;
  bool exit_when_waiting = false;
};

/// Where a run goes on measuring, when it is told so; carry_out keeps it.
base::Result<void> redirect(journal::RunInfo& run, const ResumeOptions& options) {
  base::Json& device = run.settings["device"];
  DeviceFlags flags;
  flags.workers = options.workers;
  flags.defer = options.defer;
  if (!options.device.empty()) flags.device = options.device;
  TRY(check(flags));
  if (!options.workers.empty()) {
    device = to_json(flags);
  } else if (!options.device.empty() || !options.defer.empty()) {
    if (!options.device.empty()) device["device"] = options.device;
    device["worker"] = "";
    device.erase("workers");
    device["defer"] = absolute(options.defer);
    device["rewrite"] = !options.defer.empty();
  }
  if (options.bundle.empty()) return {};
  if (device.value("defer", "").empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "run " + run.id + " waits for no bundle: it does not measure with --defer");
  }
  device["returned"] = options.bundle;
  return {};
}

base::Result<Exit> resume_run(Shell& shell, const ResumeOptions& options) {
  const auto workspace = find_workspace(options.workspace);
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(journal::RunInfo run, journal->find_run(options.run));
  if (options.exit_when_waiting) run.settings["agents"]["exit_when_waiting"] = true;
  if (const auto redirected = redirect(run, options); !redirected) return refuse_options(redirected.error());
  TRY_ASSIGN(const Config config, load_config(workspace));
  if (run.status == "done" && !options.json)
    fmt::print(stderr, "run {} is done already; its result, from the record:\n", run.id);
  return carry_out_and_show(shell, *journal, run, config, {options.json, options.verbose, Begin::again});
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
      "  accelopt run my_task --mailbox questions --exit-when-waiting    then answer there, and: accelopt resume\n");
  auto options = std::make_shared<RunOptions>();
  command.option("task", &options->task, "Folder of the task (task.toml, reference, baseline)").required();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.option("--defer", &options->defer,
                 "Measure nothing here: put evaluations into bundles in this folder, and end with exit code 6 until "
                 "they were executed elsewhere (docs/devices.md)");
  command.flag("--json", options->json, "Events and result as JSON lines (docs/json.md)");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  declare(command, options->search);
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return start_run(shell, *options); }; });
}

void add_resume(CommandLine& app, Action& chosen) {
  Command command = app.add("resume", "Continue a run that was killed, interrupted or failed");
  command.footer(
      "Examples:\n"
      "  accelopt resume\n"
      "  accelopt resume 20261121-1015\n"
      "  accelopt resume last --bundle returned/0001-3fa9c1d2     a bundle that was executed elsewhere\n"
      "  accelopt resume last --worker \"ssh host accelopt worker --device cpu:1\"\n"
      "A run continues to measure where it last did: --device, --worker and --defer stay in force until another is "
      "given.\n");
  auto options = std::make_shared<ResumeOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.option("--bundle", &options->bundle,
                 "An executed bundle, or a folder of them, to import (default: where they were written)");
  command.option("--device", &options->device, "From now on measure here: cpu, cpu:N or cuda:N");
  declare_workers(command, options->workers,
                  "From now on measure through this worker; may be repeated (docs/devices.md)");
  command.option("--defer", &options->defer,
                 "From now on bundles go into this folder; those that are gone are written again");
  command.flag("--exit-when-waiting", options->exit_when_waiting,
               "End with exit code 6 when nothing can go on without an answer in the mailbox");
  command.flag("--json", options->json, "Events and result as JSON lines (docs/json.md)");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return resume_run(shell, *options); }; });
}

}  // namespace accelopt::cli
