// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/refactor_story.hpp"
#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"

namespace accelopt::cli {
namespace {

struct RunsOptions {
  std::string workspace;
  bool json = false;
};

std::string speedup_of(const journal::RunInfo& run) {
  if (!run.result || !run.result->contains("speedup") || (*run.result)["speedup"].is_null()) return "-";
  return report::format_ratio((*run.result)["speedup"].get<model::Interval>());
}

/// What recipes and checks of changes came to, below the runs.
void print_refactorings(const std::vector<report::RefactorStory>& stories) {
  report::TextTable table({{"refactoring"}, {"task"}, {"started"}, {"verdict"}, {"old / new"}});
  for (const report::RefactorStory& story : stories) {
    table.add({story.run, story.task, story.created, story.verdict,
               story.speedup ? report::format_ratio(*story.speedup) : "-"});
  }
  fmt::print("{}", table.render());
}

base::Result<Exit> show_runs(const RunsOptions& options) {
  const std::filesystem::path workspace = app::find_workspace(options.workspace);
  TRY_ASSIGN(const auto runs, app::list_runs(workspace));
  if (options.json) {
    for (const app::ListedRun& run : runs) fmt::print("{}\n", base::canonical(to_json(run)));
    return Exit::done;
  }
  report::TextTable table({{"run"}, {"task"}, {"started"}, {"status"}, {"outcome"}, {"old / new"}});
  for (const auto& [run, status] : runs) {
    table.add({run.id, run.task_name, run.created, std::string(to_string(status)),
               run.result ? run.result->value("outcome", "-") : "-", speedup_of(run)});
  }
  TRY_ASSIGN(const auto refactorings, app::list_refactorings(workspace));
  fmt::print("{}{}", table.render(), runs.empty() || refactorings.empty() ? "" : "\n");
  print_refactorings(refactorings);
  if (runs.empty() && refactorings.empty()) fmt::print("no runs yet; start one with: accelopt run TASK\n");
  return Exit::done;
}

}  // namespace

void add_runs(CommandLine& app, Action& chosen) {
  Command command = app.add("runs", "List the runs of this workspace and its refactorings, newest first");
  command.footer("Example:\n  accelopt runs\n");
  auto options = std::make_shared<RunsOptions>();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object per run, a line each");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return show_runs(*options); }; });
}

}  // namespace accelopt::cli
