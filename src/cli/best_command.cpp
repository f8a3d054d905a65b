// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/scaffold/winner_patch.hpp"
#include "cli/winner.hpp"
#include "cli/workspace.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct BestOptions {
  std::string run = "last";
  std::string output;
  std::string workspace;
  bool force = false;
};

/// The winner as a task whose baseline it is, and as a patch where the task has an [entry].
base::Result<Exit> write_best(const journal::RunInfo& run, const model::Solution& winner, const BestOptions& options) {
  const std::filesystem::path folder = options.output;
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_empty(folder, ignored) && !options.force) {
    return base::fail(base::ErrorCode::already_exists,
                      folder.string() + " is not empty; name another folder, or add --force");
  }
  model::Task task = run.task;
  task.baseline = winner;
  TRY(suites::write_task(task, folder));
  fmt::print(
      "wrote {}\n",
      (folder / ("baseline" + std::filesystem::path(winner.sources.front().name).extension().string())).string());
  if (!run.task.entry) return Exit::done;
  TRY_ASSIGN(const WinnerPatch patch, make_winner_patch({{run.task, winner, run.task_folder, {}}}));
  TRY(base::write_file(folder / "winner.patch", diff_of(patch)));
  fmt::print("wrote {}; apply it in your repository with: git apply {}\n", (folder / "winner.patch").string(),
             (folder / "winner.patch").string());
  return Exit::done;
}

base::Result<Exit> best(const BestOptions& options) {
  TRY_ASSIGN(const auto journal, open_workspace(find_workspace(options.workspace), journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(options.run));
  TRY_ASSIGN(const model::Solution winner, winner_of(run));
  if (!options.output.empty()) return write_best(run, winner, options);
  fmt::print("{}", model::main_text(winner));
  return Exit::done;
}

}  // namespace

void add_best(CommandLine& app, Action& chosen) {
  Command command = app.add("best", "The winner of a run: printed, or as a task folder and a patch of your file");
  command.footer("Examples:\n  accelopt best\n  accelopt best last --output faster && git apply faster/winner.patch\n");
  auto options = std::make_shared<BestOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("-o,--output", &options->output,
                 "Folder to write: the winner as a task, winner.patch where there is an [entry]");
  command.flag("--force", options->force, "Write into a folder that is not empty");
  command.option("--workspace", &options->workspace, "Folder of the runs (default: the nearest .accelopt upwards)");
  command.chosen([&chosen, options] { chosen = [options](Shell&) { return best(*options); }; });
}

}  // namespace accelopt::cli
