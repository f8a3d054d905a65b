// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/ablation.hpp"
#include "app/workspace.hpp"
#include "base/output_file.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/html/ablation_page.hpp"
#include "report/progress.hpp"

namespace accelopt::cli {
namespace {

struct AblateOptions {
  std::string suite;
  std::string workspace;
  std::vector<std::string> only;
  std::vector<std::string> factors;
  int seeds = 3;
  int jobs = 1;
  bool json = false;
  std::string output;
  std::string export_markdown;
  app::SearchFlags search;
};

base::Result<Exit> ablate(app::Shell& shell, const AblateOptions& options) {
  const auto plan = app::plan_ablation(shell, {.suite = {.suite = options.suite,
                                                         .only = options.only,
                                                         .workspace = app::find_workspace(options.workspace),
                                                         .search = options.search},
                                               .factors = options.factors,
                                               .seeds = options.seeds,
                                               .jobs = options.jobs});
  if (!plan) return refuse_options(plan.error());
  const auto progress = [](const std::string& task) {
    report::TerminalOptions terminal;
    terminal.live = false;
    terminal.prefix = task + ": ";
    return report::make_terminal_progress(stderr, std::move(terminal));
  };
  TRY_ASSIGN(const report::Ablation found,
             app::run_ablation(shell, *plan, {.progress = progress, .finished = [](const app::SuiteOutcome&) {}}));
  const report::Document page = report::document_of(found);
  if (options.json)
    fmt::print("{}\n", base::canonical(report::to_json(found)));
  else
    fmt::print("{}", page.to_text());
  TRY(report::export_markdown(page, options.export_markdown));
  if (!options.output.empty()) TRY(base::write_output(options.output, report::html::ablation_page(found)));
  return shell.stops.wind_down.stop_requested() ? Exit::interrupted : Exit::done;
}

}  // namespace

void add_ablate(CommandLine& app, Action& chosen) {
  Command command =
      app.add("ablate", "Find out what each part of the method is worth: one factor at a time over a suite");
  command.footer(
      "Examples:\n"
      "  accelopt ablate suites/nkibench-cpu --only silu --only matmul --max-evaluations 12\n"
      "  accelopt ablate suites/nkibench-cpu --factor strategy --seeds 5 --max-time 2m -o ablation.html\n"
      "Runs on record in the workspace are not repeated, so an interrupted ablation continues.\n");
  auto options = std::make_shared<AblateOptions>();
  command.option("suite", &options->suite, "Folder whose sub-folders are tasks, or a dataset of FlashInfer Trace")
      .required();
  command.option(
      "--factor", &options->factors,
      "strategy (beam, greedy, repeated-sampling), memory (off, queue, ranked), fixer (none, as many tries as "
      "--fixes), agents (recipes, model); may be repeated (default: all)");
  command.option("--seeds", &options->seeds, "Runs of each task in each arm, with seeds from --seed (default 1) on")
      .at_least(1)
      .show_default();
  command
      .option("--jobs", &options->jobs,
              "Arms and seeds to run in parallel; measurements on one device take turns (docs/devices.md)")
      .at_least(1)
      .show_default();
  command.option("--only", &options->only, "Only the task of this name; may be repeated");
  command.option("-o,--output", &options->output, "Also write the arms with their plots to this file, as HTML");
  command.option("--export-markdown", &options->export_markdown, "Also write the tables to this file, as Markdown");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  declare(command, options->search);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return ablate(shell, *options); }; });
}

}  // namespace accelopt::cli
