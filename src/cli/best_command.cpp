// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/device.hpp"
#include "app/patch_trial.hpp"
#include "app/user_build_race.hpp"
#include "app/winner.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/format.hpp"
#include "report/step_progress.hpp"
#include "report/text_width.hpp"
#include "scaffold/cmake_patch.hpp"
#include "scaffold/program_build.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct BestOptions {
  std::vector<std::string> runs;
  std::string output;
  std::string workspace;
  std::string compile_commands;
  std::string build_command;
  bool force = false;
  bool no_measure = false;
  DeviceFlags device;
};

/// A run and its winner, on the way into the user's file.
struct Delivery {
  journal::RunInfo run;
  model::Solution winner;
  std::optional<scaffold::UserBuild> build;
  scaffold::PatchForm form;
};

void note(const std::string& text) {
  fmt::print("note: {}\n", text);
}

base::Result<Delivery> delivery_of(journal::Journal& journal, const std::string& id) {
  TRY_ASSIGN(journal::RunInfo run, journal.find_run(id));
  TRY_ASSIGN(model::Solution winner, winner_of(run));
  return Delivery{std::move(run), std::move(winner), std::nullopt, {}};
}

std::string confirmed_text(const journal::RunInfo& run) {
  const base::Json& speedup = run.result->value("speedup", base::Json());
  if (!speedup.is_object()) return "";
  return report::format_ratio(
      model::Interval{speedup.value("estimate", 1.0), speedup.value("low", 1.0), speedup.value("high", 1.0)});
}

/// Does what may take a minute under a line that says so; nothing else may be printed meanwhile.
template <class Work>
auto with_progress(const std::string& step, const Work& work) {
  report::StepProgress steps(stderr, {.live = isatty(STDERR_FILENO) == 1});
  steps.begin(step);
  return work();
}

/// What the user's build command comes to, with the patch or without; see build_program.
auto try_build(const Shell& shell, const BestOptions& options, const std::filesystem::path& file,
               const scaffold::WinnerPatch* patch) {
  return with_progress(patch != nullptr ? "building your program with the patch, in the sandbox"
                                        : "building your program as it is, in the sandbox",
                       [&] { return scaffold::build_program(options.build_command, file, patch, shell.stops.abort); });
}

/// How the user's build command compiles the file; none where it fails, or does not compile it.
base::Result<std::optional<scaffold::UserBuild>> flags_by_building(const Shell& shell, const BestOptions& options,
                                                                   const std::filesystem::path& file) {
  TRY_ASSIGN(const auto built, try_build(shell, options, file, nullptr));
  if (!built.problem.empty()) note("your build fails in the sandbox: " + report::printable(built.problem));
  return built.flags;
}

/// How the winner keeps its gain in the user's build: both numbers are printed.
base::Result<void> choose_form(Shell& shell, const BestOptions& options, Delivery& delivery) {
  const model::Task& task = delivery.run.task;
  const std::string name = task.entry->function;
  fmt::print("{}: {} confirmed, compiled with {}\n", name, confirmed_text(delivery.run),
             fmt::join(measured_flags(delivery.winner), " "));
  delivery.form = form_without_measuring(delivery.winner);
  const auto file = scaffold::entry_file({task, delivery.winner, delivery.run.task_folder, {}});
  TRY_ASSIGN(delivery.build,
             scaffold::find_user_build(suites::entry_flags(delivery.run.task_folder), file, options.compile_commands));
  if (!delivery.build && !options.build_command.empty()) {
    TRY_ASSIGN(delivery.build, flags_by_building(shell, options, file));
  }
  if (!delivery.build) {
    note("how your build compiles " + file.filename().string() +
         " is not known, so the gain in your build was not measured; name its compile_commands.json with "
         "--compile-commands, or add flags = [\"-O2\"] to [entry]");
    return {};
  }
  if (!delivery.build->left_out.empty()) {
    note(fmt::format("of your build's flags, not on the list of those that are measured with: {}",
                     fmt::join(delivery.build->left_out, " ")));
  }
  if (options.no_measure) return {};
  const auto race = with_progress("measuring the gain as your build compiles it", [&] {
    return race_in_user_build(shell, options.device, task, delivery.winner, *delivery.build);
  });
  if (!race) {
    if (race.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(race.error());
    note("the gain in your build was not measured: " + race.error().message);
    return {};
  }
  delivery.form = race->form;
  const std::string how = race->form.flags_by == scaffold::FlagsBy::nothing ? ""
                          : race->form.flags_by == scaffold::FlagsBy::pragmas
                              ? "; its flags stand in pragmas"
                              : "; it needs a file of its own with its flags";
  fmt::print("{}: {} as your build compiles it, both with {} ({}){}\n", name, report::format_ratio(race->ratio),
             fmt::join(delivery.build->flags, " "), delivery.build->source, how);
  return {};
}

/// Has the compiler look at the patched files. @error unsupported: they no longer compile.
base::Result<void> check_files(const Shell& shell, const BestOptions& options, const scaffold::WinnerPatch& patch,
                               const std::optional<scaffold::UserBuild>& build) {
  TRY_ASSIGN(const scaffold::PatchCheck check, check_with_compiler(shell, options.device.compiler, patch, build));
  if (check.fate == scaffold::PatchFate::unchecked) note("the patch could not be checked: " + check.reason);
  if (check.fate == scaffold::PatchFate::broken) {
    return base::fail(base::ErrorCode::unsupported, "your file cannot take the winner as it is: " + check.reason +
                                                        "; put the kernel in by hand, or rename what clashes");
  }
  return {};
}

/// Runs the user's build command on the patched program. False: it fails without the patch too.
/// @error unsupported: the patch breaks it.
base::Result<bool> check_program(const Shell& shell, const BestOptions& options, const scaffold::WinnerPatch& patch) {
  const std::filesystem::path& file = patch.files.front().path;
  TRY_ASSIGN(const auto patched, try_build(shell, options, file, &patch));
  if (patched.problem.empty()) {
    fmt::print("your program builds with the patch: {}\n", report::printable(options.build_command));
    return true;
  }
  TRY_ASSIGN(const auto own, try_build(shell, options, file, nullptr));
  if (own.problem.empty()) {
    return base::fail(base::ErrorCode::unsupported,
                      "your build fails with the patch, and not without it: " + report::printable(patched.problem) +
                          "; put the kernel in by hand, or rename what clashes");
  }
  note("your build fails in the sandbox without the patch too: " + report::printable(own.problem));
  return false;
}

base::Result<void> write_patch(Shell& shell, const BestOptions& options, std::vector<Delivery>& deliveries) {
  std::vector<scaffold::PatchRequest> requests;
  for (Delivery& delivery : deliveries) {
    requests.push_back({delivery.run.task, delivery.winner, delivery.run.task_folder, {}});
  }
  TRY(scaffold::make_winner_patch(requests));  // what cannot be patched is said before anything is measured
  requests.clear();
  for (Delivery& delivery : deliveries) {
    TRY(choose_form(shell, options, delivery));
    requests.push_back({delivery.run.task, delivery.winner, delivery.run.task_folder, delivery.form});
  }
  TRY_ASSIGN(scaffold::WinnerPatch patch, scaffold::make_winner_patch(requests));
  TRY_ASSIGN(const std::string by_hand, scaffold::add_to_cmake(patch));
  bool built = false;
  if (!options.build_command.empty()) {
    TRY_ASSIGN(built, check_program(shell, options, patch));
  }
  if (!built) TRY(check_files(shell, options, patch, deliveries.front().build));
  const std::filesystem::path path = std::filesystem::path(options.output) / "winner.patch";
  TRY(base::write_file(path, scaffold::diff_of(patch)));
  if (!by_hand.empty()) note("no CMakeLists.txt names the file; " + by_hand);
  fmt::print("wrote {}; apply it in your repository with: git apply {}\n", path.string(), path.string());
  return {};
}

/// The winners as tasks whose baselines they are, and one patch where the tasks have an [entry].
base::Result<Exit> write_best(Shell& shell, const BestOptions& options, std::vector<Delivery>& deliveries) {
  const std::filesystem::path folder = options.output;
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_empty(folder, ignored) && !options.force) {
    return base::fail(base::ErrorCode::already_exists,
                      folder.string() + " is not empty; name another folder, or add --force");
  }
  bool has_entries = true;
  for (const Delivery& delivery : deliveries) {
    model::Task task = delivery.run.task;
    const std::filesystem::path own = deliveries.size() == 1 ? folder : folder / task.definition.name;
    has_entries = has_entries && task.entry.has_value();
    task.baseline = delivery.winner;
    TRY(suites::write_task(task, own));
    const std::string& name = delivery.winner.sources.front().name;
    fmt::print("wrote {}\n", (own / ("baseline" + std::filesystem::path(name).extension().string())).string());
  }
  if (has_entries) TRY(write_patch(shell, options, deliveries));
  return Exit::done;
}

base::Result<Exit> best(Shell& shell, const BestOptions& options) {
  if (const auto usable = check(options.device); !usable) return refuse_options(usable.error());
  TRY_ASSIGN(const auto journal, open_workspace(find_workspace(options.workspace), journal::Access::read_only));
  std::vector<Delivery> deliveries;
  for (const std::string& run : options.runs.empty() ? std::vector<std::string>{"last"} : options.runs) {
    TRY_ASSIGN(Delivery delivery, delivery_of(*journal, run));
    deliveries.push_back(std::move(delivery));
  }
  if (!options.output.empty()) return write_best(shell, options, deliveries);
  for (const Delivery& delivery : deliveries) fmt::print("{}", model::main_text(delivery.winner));
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
      "  accelopt best 3f2a 9c01 -o faster --compile-commands build    two functions, one patch\n");
  auto options = std::make_shared<BestOptions>();
  command.option("runs", &options->runs, "Runs: ids, beginnings of ids, or last (default: last)");
  command.option("-o,--output", &options->output,
                 "Folder to write: the winner as a task, winner.patch where there is an [entry]");
  command.option("--compile-commands", &options->compile_commands,
                 "compile_commands.json of your build (default: [entry] flags, else the nearest one upwards)");
  command.option("--allow-build", &options->build_command,
                 "Your build command: run in the sandbox, on a copy of your repository, with the patch and without");
  command.flag("--no-measure", options->no_measure, "Do not measure the gain in your own build");
  command.flag("--force", options->force, "Write into a folder that is not empty");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  declare(command, options->device);
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return best(shell, *options); }; });
}

}  // namespace accelopt::cli
