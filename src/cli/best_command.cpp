// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/best.hpp"
#include "app/evaluate.hpp"
#include "app/minimise.hpp"
#include "app/package.hpp"
#include "app/run.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/format.hpp"
#include "report/step_progress.hpp"
#include "report/text_width.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct BestFlags {
  std::vector<std::string> runs;
  std::string workspace;
  std::string form;        ///< of --as; empty: tasks and a patch
  std::string task;        ///< a solution without a run: its task's folder
  std::string solution;    ///< and its file
  std::string patch_form;  ///< of --patch-form; empty: chosen
  bool minimise = false;
  app::BestOptions best;
};

/// What it says goes to standard output; a line on standard error says what may take a minute.
app::BestPorts ports_of_terminal() {
  return {.say = [](const std::string& text) { fmt::print("{}\n", text); },
          .during =
              [](const std::string& step, const std::function<void()>& work) {
                report::StepProgress steps(stderr, {.live = isatty(STDERR_FILENO) == 1});
                steps.begin(step);
                work();
              }};
}

/// Where a run measured, unless the command line names another place.
app::DeviceFlags place_for(const journal::RunInfo& run, const app::DeviceFlags& given) {
  if (given.device_given || !given.workers.empty()) return given;
  const auto settings = app::run_settings_from(run.settings);
  if (!settings) return given;
  app::DeviceFlags place = settings->device;
  place.defer.clear();  // whoever asks waits for it
  return place;
}

/// Leaves of the winner what carries its gain, and says on standard error what that is.
base::Result<void> minimise(const app::Shell& shell, const BestFlags& flags, app::Winner& winner) {
  report::StepProgress steps(stderr, {.live = isatty(STDERR_FILENO) == 1});
  TRY_ASSIGN(app::Minimised least, app::minimise(shell, place_for(winner.run, flags.best.device), winner.run.task,
                                                 winner.solution, [&](const std::string& step) { steps.begin(step); }));
  steps.end();
  fmt::print(stderr, "{}: {} of {} edits do not contribute to the gain and were reverted\n", winner.run.task_name,
             least.taken_back, least.edits);
  fmt::print(stderr, "{}: {} with all edits, {} with {} of them, confirmed now\n", winner.run.task_name,
             report::format_ratio(least.winner), report::format_ratio(least.minimised), least.edits - least.taken_back);
  if (!least.note.empty()) fmt::print(stderr, "note: {}\n", report::printable(least.note));
  if (least.taken_back == 0) return {};
  winner.solution = std::move(least.solution);
  winner.speedup = least.minimised;
  return {};
}

/// A solution that no run has found, in a form.
base::Result<Exit> take_file_home(const BestFlags& flags, app::Form form) {
  TRY_ASSIGN(const model::Task task, suites::load_task(flags.task));
  model::Solution solution = task.baseline;
  if (!flags.solution.empty()) {
    TRY_ASSIGN(solution, app::read_kernel(flags.solution, task));
  }
  const app::Overwrite overwrite = flags.best.force ? app::Overwrite::replace : app::Overwrite::refuse;
  TRY_ASSIGN(const auto files, app::write_package(form, {task, solution, "Its speed was not measured here."},
                                                  flags.best.output, overwrite));
  fmt::print("wrote {} files into {}; how to build and test them: {}\n", files.size(), flags.best.output,
             (std::filesystem::path(flags.best.output) / "README.md").string());
  return Exit::done;
}

/// Why these options do not go together; empty: they do.
std::string contradiction(const BestFlags& flags, const std::optional<app::Form>& form) {
  if (form && flags.best.output.empty()) return "--as needs --output FOLDER";
  if (form == app::Form::flashinfer_trace && flags.minimise)
    return "--as flashinfer-trace has the times that the run recorded of its whole winner; leave out --minimise";
  const app::BestOptions& options = flags.best;
  if (options.output.empty() && (options.force || options.no_measure || options.form ||
                                 !options.build_command.empty() || !options.compile_commands.empty()))
    return "--allow-build, --compile-commands, --patch-form, --no-measure and --force are about what is written; add "
           "--output FOLDER";
  if (flags.task.empty()) return flags.solution.empty() ? "" : "--solution needs --task TASK";
  if (!form) return "--task needs --as FORM";
  if (*form == app::Form::patch || *form == app::Form::flashinfer_trace)
    return fmt::format("--as {} needs what a run confirmed, and --task has no run", app::form_name(*form));
  if (!flags.runs.empty() || flags.minimise) return "--task packages a file, not a run; leave out runs and --minimise";
  return "";
}

/// As --patch-form says it. @error invalid_argument.
base::Result<std::optional<scaffold::FlagsBy>> parse_patch_form(const std::string& text) {
  using scaffold::FlagsBy;
  if (text.empty()) return std::optional<FlagsBy>();
  if (text == "as-is") return FlagsBy::nothing;
  if (text == "pragmas") return FlagsBy::pragmas;
  if (text == "own-file") return FlagsBy::own_file;
  return base::fail(base::ErrorCode::invalid_argument,
                    "--patch-form " + base::in_quotes(text) + " is none; take as-is, pragmas or own-file");
}

base::Result<Exit> best(const app::Shell& shell, BestFlags flags) {
  if (const auto usable = app::check(flags.best.device); !usable) return refuse_options(usable.error());
  const auto patch_form = parse_patch_form(flags.patch_form);
  if (!patch_form) return refuse_options(patch_form.error());
  flags.best.form = *patch_form;
  std::optional<app::Form> form;
  if (!flags.form.empty()) {
    const auto parsed = app::parse_form(flags.form);
    if (!parsed) return refuse_options(parsed.error());
    form = *parsed;
  }
  if (const std::string reason = contradiction(flags, form); !reason.empty())
    return refuse_options({base::ErrorCode::invalid_argument, reason});
  if (!flags.task.empty()) return take_file_home(flags, *form);
  TRY_ASSIGN(const auto journal, app::open_workspace(app::find_workspace(flags.workspace), journal::Access::read_only));
  std::vector<app::Winner> winners;
  for (const std::string& run : flags.runs.empty() ? std::vector<std::string>{"last"} : flags.runs) {
    TRY_ASSIGN(app::Winner winner, app::find_winner(*journal, run));
    if (flags.minimise) TRY(minimise(shell, flags, winner));
    winners.push_back(std::move(winner));
  }
  if (form) {
    TRY(app::take_home(shell, *form, flags.best, ports_of_terminal(), winners));
    return Exit::done;
  }
  if (!flags.best.output.empty()) {
    TRY(app::write_winners(shell, flags.best, ports_of_terminal(), winners));
    return Exit::done;
  }
  for (const app::Winner& winner : winners) fmt::print("{}", model::changeable_text(winner.solution));
  return Exit::done;
}

}  // namespace

void add_best(CommandLine& app, Action& chosen) {
  Command command =
      app.add("best", "Print the winners of runs, or write them as task folders and one patch of your files");
  command.footer(
      "Examples:\n"
      "  accelopt best\n"
      "  accelopt best last --output faster && git apply faster/winner.patch\n"
      "  accelopt best 3f2a 9c01 -o faster --compile-commands build    two functions, one patch\n"
      "  accelopt best --as torch -o silu           an operator of PyTorch, tested against the task's reference\n"
      "  accelopt best --as cuda -o silu --task suites/nkibench-cuda/silu --solution silu.cu\n");
  auto options = std::make_shared<BestFlags>();
  command.option("runs", &options->runs, "Runs: ids, beginnings of ids, or last (default: last)");
  command.option("-o,--output", &options->best.output,
                 "Folder to write: the winner as a task, winner.patch where there is an [entry]");
  command.option("--as", &options->form,
                 "Write it ready for use: patch, cpp, cuda, torch, triton or flashinfer-trace, with a test");
  command.option("--task", &options->task, "With --as: a task's baseline, or --solution, in place of a run's winner");
  command.option("--solution", &options->solution, "With --task: the kernel's file");
  command.option("--compile-commands", &options->best.compile_commands,
                 "compile_commands.json of your build (default: [entry] flags, else the nearest one upwards)");
  command.option("--allow-build", &options->best.build_command,
                 "Your build command: run in the sandbox, on a copy of your repository, with the patch and without");
  command.option("--patch-form", &options->patch_form,
                 "How the patch brings the winner's flags: as-is (not at all), pragmas, or own-file (default: the "
                 "simplest that keeps the gain and builds)");
  command.flag("--minimise", options->minimise,
               "Revert edits that do not contribute to the gain, one by one, as long as the rest ties with the winner");
  command.flag("--no-measure", options->best.no_measure, "Do not measure the gain in your own build");
  command.flag("--force", options->best.force,
               "Write into a folder that is not empty, and a patch that would make your program slower");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  declare(command, options->best.device);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return best(shell, *options); }; });
}

}  // namespace accelopt::cli
