// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "app/build_trial.hpp"
#include "app/mutant_check.hpp"
#include "app/patch_trial.hpp"
#include "base/available_memory.hpp"
#include "base/hash.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "evaluation/evaluator.hpp"
#include "evaluation/verify/memory_need.hpp"
#include "model/target_description.hpp"
#include "report/text_width.hpp"
#include "suites/lint.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

using base::Problem;
using base::Severity;

struct LintOptions {
  std::vector<std::string> tasks;
  bool json = false;
  bool mutants = false;
  std::optional<std::uint64_t> seed;
  app::DeviceFlags device;
};

bool is_error(const Problem& problem) {
  return problem.severity == Severity::error;
}

void print(const Problem& problem, const std::string& folder, bool json) {
  const std::string file = problem.file.empty() ? (std::filesystem::path(folder) / "task.toml").string() : problem.file;
  if (!json) {
    fmt::print("{}{}\n", is_error(problem) ? "" : "advice: ", report::printable_lines(base::to_string(problem, file)));
    return;
  }
  const base::Json line = {{"type", "problem"},
                           {"schema", 1},
                           {"severity", is_error(problem) ? "error" : "advice"},
                           {"file", file},
                           {"line", problem.line},
                           {"key", problem.key},
                           {"message", problem.message}};
  fmt::print("{}\n", base::canonical(line));
}

void print(const app::TriedMutant& mutant, const std::string& folder, bool json) {
  if (json) {
    const base::Json line = {{"type", "mutant"},
                             {"schema", 1},
                             {"task", folder},
                             {"mutant", mutant.name},
                             {"fate", std::string(to_string(mutant.fate))},
                             {"reason", mutant.reason}};
    fmt::print("{}\n", base::canonical(line));
  } else if (mutant.fate == app::MutantFate::skipped || mutant.fate == app::MutantFate::equivalent) {
    fmt::print("note: {}: mutant \"{}\" is no mutant here: {}\n", report::printable(folder),
               report::printable(mutant.name), report::printable_lines(mutant.reason));
  }
}

/// What the task's last line says when nothing is wrong with it.
std::string praise(const app::MutantCheck& check) {
  if (check.mutants.empty()) return "ok";
  const auto refused = std::count_if(check.mutants.begin(), check.mutants.end(),
                                     [](const app::TriedMutant& one) { return one.fate == app::MutantFate::refused; });
  return fmt::format("ok, {} of {} mutants apply and are refused", refused, check.mutants.size());
}

/// Whether a winner could be put into the user's file.
base::Result<void> check_entry(const app::Shell& shell, const LintOptions& options, const model::Task& task,
                               const std::string& folder, std::vector<Problem>& problems) {
  const bool patchable = model::describe(task.baseline.language).form == model::KernelForm::function;
  if (!task.entry || !patchable || std::any_of(problems.begin(), problems.end(), is_error)) return {};
  TRY_ASSIGN(const scaffold::PatchCheck trial, app::try_patch(shell, options.device.compiler, task, folder));
  if (trial.fate == scaffold::PatchFate::compiles) return {};
  const bool broken = trial.fate == scaffold::PatchFate::broken;
  problems.push_back(
      {0, "entry",
       (broken ? "no winner can be put into the file: " : "a patch of the file cannot be checked: ") + trial.reason, "",
       broken ? Severity::error : Severity::advice});
  return {};
}

/// Prints what is wrong with one task; the number of errors.
base::Result<std::ptrdiff_t> lint_folder(app::Shell& shell, const LintOptions& options, const std::string& folder) {
  std::vector<Problem> problems = suites::task_problems(folder);
  app::MutantCheck check;
  if (problems.empty()) {
    TRY_ASSIGN(const model::Task task, suites::load_task(folder));
    problems =
        suites::lint_task(task, {.cores = static_cast<int>(std::thread::hardware_concurrency()), .folder = folder});
    const auto available = base::available_memory();
    if (!model::target_of(task).own_memory && available) {
      const auto fits = evaluation::check_memory(task, evaluation::MeasureSettings{}.slots, *available);
      if (!fits) problems.push_back({0, "workloads", fits.error().message, "", Severity::error});
    }
    if (std::none_of(problems.begin(), problems.end(), is_error)) {
      TRY_ASSIGN(const auto built, app::build_problems(shell, options.device.compiler, task, folder));
      problems.insert(problems.end(), built.begin(), built.end());
    }
    TRY(check_entry(shell, options, task, folder, problems));
    if (options.mutants && std::none_of(problems.begin(), problems.end(), is_error)) {
      TRY_ASSIGN(check, app::check_mutants(shell, task, options.device, options.seed.value_or(base::random_seed())));
      problems.insert(problems.end(), check.problems.begin(), check.problems.end());
    }
  }
  for (const app::TriedMutant& mutant : check.mutants) print(mutant, folder, options.json);
  for (const Problem& problem : problems) print(problem, folder, options.json);
  const auto errors = std::count_if(problems.begin(), problems.end(), is_error);
  if (errors == 0 && !options.json) fmt::print("{}: {}\n", report::printable(folder), praise(check));
  return errors;
}

base::Result<Exit> lint(app::Shell& shell, const LintOptions& options) {
  if (const auto usable = app::check(options.device); !usable) return refuse_options(usable.error());
  std::ptrdiff_t errors = 0;
  for (const std::string& folder : options.tasks) {
    if (shell.stops.abort.stop_requested()) return base::fail(base::ErrorCode::cancelled, "stopped as asked");
    TRY_ASSIGN(const std::ptrdiff_t own, lint_folder(shell, options, folder));
    errors += own;
  }
  return errors == 0 ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_lint(CommandLine& app, Action& chosen) {
  Command command = app.add(
      "lint", "Check a task and whether its reference builds, or try kernels that are wrong on purpose (--mutants)");
  command.footer(
      "Examples:\n"
      "  accelopt lint my_task                  problems by file, line and key\n"
      "  accelopt lint --mutants my_task        would a wrong kernel pass?\n");
  auto options = std::make_shared<LintOptions>();
  command.option("task", &options->tasks, "Folders of tasks").required();
  command.flag("--mutants", options->mutants,
               "Also build and verify wrong kernels; a task that accepts one is refused");
  command.option("--seed", &options->seed, "Seed of the mutants' inputs (default: random)");
  command.flag("--json", options->json, "One JSON object per problem and per mutant (docs/json.md)");
  declare(command, options->device);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return lint(shell, *options); }; });
}

}  // namespace accelopt::cli
