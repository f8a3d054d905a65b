// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "app/bench_history.hpp"
#include "app/suite_run.hpp"
#include "app/workspace.hpp"
#include "base/shell.hpp"
#include "cli/bench_refactor.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "evaluation/bench.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/progress.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"
#include "suites/refactor_suite.hpp"

namespace accelopt::cli {
namespace {

struct BenchOptions {
  std::string suite;
  std::vector<std::string> only;
  std::string workspace;
  bool json = false;
  bool verbose = false;
  bool history = false;
  bool plot = false;
  bool freeze = false;
  int jobs = 1;
  RefactorBenchFlags refactor{};
  std::string export_markdown;
  app::SearchFlags search;
};

report::TextTable table_of(const std::vector<app::SuiteOutcome>& tasks) {
  report::TextTable table({{"task"},
                           {"baseline", report::Align::right},
                           {"best", report::Align::right},
                           {"speed-up [95 %]", report::Align::right},
                           {"of roofline", report::Align::right},
                           {"evaluations", report::Align::right},
                           {"time", report::Align::right},
                           {"outcome"}});
  for (const app::SuiteOutcome& line : tasks) {
    if (!line.result) {
      table.add({line.task, "-", "-", "-", "-", "-", "-", line.error});
      continue;
    }
    const search::RunResult& result = *line.result;
    const bool improved = line.improved();
    const app::SuiteTimes times = app::times_of(result);
    table.add(
        {line.task, report::format_ns(times.baseline_ns), improved ? report::format_ns(times.best_ns) : "-",
         improved ? report::format_ratio(*result.confirmation->ratio) : "-", report::format_percent(times.roofline),
         std::to_string(result.evaluations), report::format_seconds(result.wall_seconds),
         improved ? std::string(evaluation::is_modelled(*result.confirmation) ? "improved (modelled)" : "improved")
                  : std::string(search::to_string(result.outcome)) + ": " + result.reason});
  }
  return table;
}

/// Of one task; where tasks run side by side, every line names its own.
std::unique_ptr<model::EventSink> progress_for(const BenchOptions& options, const std::string& task) {
  const bool side_by_side = options.jobs > 1;
  if (options.json) return report::make_json_progress(stdout, side_by_side ? task : "");
  report::TerminalOptions terminal;
  terminal.live = isatty(STDERR_FILENO) == 1 && !side_by_side;
  if (side_by_side) terminal.prefix = task + ": ";
  terminal.detail = options.verbose ? report::Detail::all : report::Detail::events;
  return report::make_terminal_progress(stderr, std::move(terminal));
}

base::Result<void> print(const app::SuiteReport& suite, const BenchOptions& options) {
  if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(suite)));
    return {};
  }
  report::Document page("Suite " + suite.suite);
  page.text("\n");
  page.table(table_of(suite.tasks));
  page.text("\n" + app::summary_text(suite) + "\n");
  fmt::print("{}", page.to_text());
  return report::export_markdown(page, options.export_markdown);
}

base::Result<Exit> run_suite(app::Shell& shell, const BenchOptions& options) {
  const auto plan = app::plan_suite(shell, {.suite = options.suite,
                                            .only = options.only,
                                            .workspace = app::find_workspace(options.workspace),
                                            .jobs = options.jobs,
                                            .search = options.search});
  if (!plan) return refuse_options(plan.error());
  for (const std::string& one : plan->left_out) fmt::print(stderr, "left out: {}\n", report::printable_lines(one));
  const auto show_result = [&](const app::SuiteOutcome& task) {
    if (options.json && task.result) fmt::print("{}\n", base::canonical(search::to_result_json(*task.result)));
  };
  TRY_ASSIGN(const app::SuiteReport suite,
             app::run_suite(shell, *plan,
                            {.progress = [&](const std::string& task) { return progress_for(options, task); },
                             .finished = show_result}));
  TRY(print(suite, options));
  if (suite.interrupted) return Exit::interrupted;
  if (suite.failed > 0) return Exit::error;
  return suite.improved > 0 ? Exit::done : Exit::no_gain;
}

base::Result<Exit> show_history(const BenchOptions& options) {
  const auto workspace = app::find_workspace(options.workspace);
  TRY_ASSIGN(const auto history, app::read_history(workspace, {.suite = options.suite, .only = options.only}));
  if (options.json) {
    for (const base::Json& line : report::to_json_lines(history)) fmt::print("{}\n", base::canonical(line));
    return Exit::done;
  }
  if (history.empty()) {
    fmt::print("no suite runs {}in {}; begin one with: accelopt bench {}\n",
               options.suite.empty() && options.only.empty() ? "" : "like that ", workspace.string(),
               options.suite.empty() ? "SUITE" : base::shell_word(options.suite));
    return Exit::done;
  }
  fmt::print("{}", report::to_text(history));
  return Exit::done;
}

/// A suite of refactorings has other flags, and its results beside it.
base::Result<Exit> bench_refactorings(const app::Shell& shell, const BenchOptions& options) {
  RefactorBenchFlags flags = options.refactor;
  flags.suite = options.suite;
  flags.only = options.only;
  flags.jobs = options.jobs;
  flags.seed = options.search.seed;
  flags.search = options.search;
  flags.workspace = options.workspace;
  flags.json = options.json;
  if (options.freeze) return freeze_refactor_bench(flags);
  if (options.plot || options.history) {
    if (options.plot && options.history) return plot_refactor_bench(flags);
    return refuse_options({base::ErrorCode::invalid_argument,
                           "results of a suite of refactorings are shown by --history and --plot together"});
  }
  return run_refactor_bench(shell, flags);
}

base::Result<Exit> bench(app::Shell& shell, const BenchOptions& options) {
  if (!options.suite.empty() && suites::is_refactor_suite(options.suite)) return bench_refactorings(shell, options);
  const RefactorBenchFlags& refactor = options.refactor;
  if (options.plot || options.freeze || refactor.rounds != 1 || !refactor.arms.empty() || !refactor.tools.empty() ||
      !refactor.results.empty()) {
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--plot, --freeze, --rounds, --arm, --tools and --results are for a suite of refactorings, "
                           "a folder with suite.toml such as benchmarks"});
  }
  if (!options.export_markdown.empty() && (options.history || options.json)) {
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--export-markdown writes the table of a suite run; leave out --history and --json"});
  }
  if (options.history) return show_history(options);
  if (options.suite.empty()) {
    return refuse_options(
        {base::ErrorCode::invalid_argument,
         "bench needs the folder of a suite: accelopt bench suites/nkibench-cpu; --history shows earlier ones"});
  }
  return run_suite(shell, options);
}

}  // namespace

void add_bench(CommandLine& app, Action& chosen) {
  Command command =
      app.add("bench", "Run every task of a suite and print a table, or compare earlier suite runs (--history)");
  command.footer(
      "Examples:\n  accelopt bench suites/nkibench-cpu\n  accelopt bench suites/nkibench-cpu --only silu --only matmul "
      "--json\n"
      "  accelopt bench suites/nkibench-cuda --jobs 2 --worker \"ssh a accelopt worker --device cuda:0\" --worker "
      "\"ssh b "
      "accelopt worker --device cuda:0\"\n"
      "  accelopt bench benchmarks --rounds 3              refactorings, with memory cold, warm and shuffled\n"
      "  accelopt bench benchmarks --history --plot        TREND.md and trend.svg of their results\n"
      "  accelopt bench --history             suite runs over time, and what memory changed\n"
      "  accelopt bench --history --only matmul --json\n");
  auto options = std::make_shared<BenchOptions>();
  command.option("suite", &options->suite,
                 "Folder whose sub-folders are tasks, a dataset of FlashInfer Trace, or a suite of refactorings");
  command.flag("--history", options->history,
               "Run nothing: show this workspace's suite runs over time, per task and overall, with memory cold and "
               "warm (docs/cli.md)");
  command.option("--only", &options->only, "Only the task of this name; may be repeated");
  command
      .option("--jobs", &options->jobs,
              "Tasks to run in parallel; measurements on one device take turns (docs/devices.md)")
      .at_least(1)
      .show_default();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--plot", options->plot, "With --history, of a suite of refactorings: write TREND.md and trend.svg");
  command.option("--rounds", &options->refactor.rounds, "Refactorings: passes, between which memory grows")
      .at_least(1)
      .show_default();
  command.option("--arm", &options->refactor.arms,
                 "Refactorings: the memory to begin with, cold, warm or shuffled; may be repeated (default: all)");
  command.option("--tools", &options->refactor.tools,
                 "Refactorings: a folder with programs that tasks need; may be repeated");
  command.option("--results", &options->refactor.results,
                 "Refactorings: file to append results to (default: results/DATE-MACHINE.jsonl in the suite)");
  command.flag("--freeze", options->freeze, "Refactorings: print the hash of the suite as it is now");
  command.flag("--json", options->json, "JSON lines (docs/json.md)");
  command.option("--export-markdown", &options->export_markdown, "Also write the table to this file, as Markdown");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  declare(command, options->search);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return bench(shell, *options); }; });
}

}  // namespace accelopt::cli
