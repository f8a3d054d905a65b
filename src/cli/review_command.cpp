// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "app/review.hpp"
#include "app/review_calibration.hpp"
#include "app/reviewer_history.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/review_text.hpp"
#include "cli/search_flags.hpp"
#include "report/step_progress.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

struct ReviewFlags {
  app::ReviewOptions options;
  app::AgentFlags agents;
  app::DeviceFlags device;
  std::string task;
  std::vector<std::string> changes;
  std::vector<std::string> commits;
  std::vector<std::string> tools;
  std::string workspace;
  std::optional<int> pairs;
  bool calibrate = false;
  bool commit = false;
  bool json = false;
};

/// @error invalid_argument: flags contradict each other, or mean nothing here.
base::Result<void> check(const ReviewFlags& flags) {
  const auto refuse = [](const char* why) { return base::fail(base::ErrorCode::invalid_argument, why); };
  const std::size_t changes = flags.changes.size() + flags.commits.size();
  if (!flags.agents.prompts.empty()) return refuse("--prompts holds no prompt of a reviewer; leave it out");
  if (flags.calibrate && (!flags.task.empty() || changes > 0 || flags.commit))
    return refuse("--calibrate asks about the bundled pairs; leave out the task, its changes and --commit");
  if (flags.calibrate) return {};
  if (flags.pairs) return refuse("--pairs belongs to --calibrate");
  if (flags.task.empty() || changes == 0) return refuse("give a task's folder and at least one change, or --calibrate");
  if (changes > app::kMostReviewed) return refuse("a review takes six changes at most");
  return {};
}

/// Calls a use case with its steps shown.
template <class Use>
auto with_steps(const ReviewFlags& flags, const Use& use) {
  report::StepProgress steps(stderr, {.live = !flags.json && isatty(STDERR_FILENO) == 1});
  auto result = use([&](const std::string& step) { steps.begin(step); });
  steps.end();
  return result;
}

/// The value; where answers are missing, says so and ends in Exit::waiting.
template <class T>
base::Result<Exit> finished(const base::Outcome<T>& outcome, const ReviewFlags& flags, Exit (*print)(const T&)) {
  if (!outcome && outcome.error().why == base::Why::put_off) {
    fmt::print(stderr, "waiting: {}; answer in {}, and give the same command again\n",
               report::printable_lines(outcome.error().message),
               flags.agents.mailbox.empty() ? "the mailbox" : flags.agents.mailbox);
    return Exit::waiting;
  }
  if (!outcome) return refuse_options(outcome.error().as_error());
  if (!flags.json) return print(*outcome);
  fmt::print("{}\n", base::canonical(*outcome));
  return Exit::done;
}

Exit print_calibration(const app::Calibration& calibration) {
  fmt::print("{}", calibration_text(calibration));
  return Exit::done;
}

Exit print_review(const app::ReviewReport& report) {
  fmt::print("{}", review_text(report));
  return Exit::done;
}

base::Result<Exit> calibrate(const app::Shell& shell, const ReviewFlags& flags, const app::Config& config) {
  app::CalibrationOptions options;
  if (flags.pairs) options.pairs = static_cast<std::size_t>(*flags.pairs);
  options.workspace = flags.options.refactor.workspace;
  options.tools = flags.options.refactor.tools;
  const auto outcome = with_steps(flags, [&](const auto& step) {
    options.step = step;
    return app::calibrate_reviewer(shell, options, flags.agents, config);
  });
  return finished(outcome, flags, print_calibration);
}

/// Whoever calls it from a script wants to know that nothing may be kept.
base::Result<Exit> end_of(const base::Outcome<app::ReviewReport>& outcome, const ReviewFlags& flags) {
  TRY_ASSIGN(const Exit exit, finished(outcome, flags, print_review));
  return exit == Exit::done && outcome && !outcome->chosen ? Exit::check_failed : exit;
}

base::Result<Exit> review_of_kernels(const app::Shell& shell, const ReviewFlags& flags, const app::Config& config) {
  if (flags.commit || !flags.commits.empty())
    return refuse_options({base::ErrorCode::invalid_argument, "kernels are files: leave out --commit and --of"});
  app::KernelReviewOptions options{.task = flags.task,
                                   .kernels = {flags.changes.begin(), flags.changes.end()},
                                   .device = flags.device,
                                   .seed = flags.options.refactor.seed,
                                   .workspace = flags.options.refactor.workspace,
                                   .draws = flags.options.draws};
  const auto outcome = with_steps(flags, [&](const auto& step) {
    options.step = step;
    return app::review_kernels(shell, options, flags.agents, config);
  });
  return end_of(outcome, flags);
}

base::Result<Exit> review(const app::Shell& shell, ReviewFlags& flags) {
  if (const auto usable = check(flags); !usable) return refuse_options(usable.error());
  app::RefactorOptions& refactor = flags.options.refactor;
  refactor.workspace = app::find_workspace(flags.workspace);
  refactor.tools.assign(flags.tools.begin(), flags.tools.end());
  TRY_ASSIGN(const app::Config config, app::load_config(refactor.workspace, shell.environment));
  if (flags.calibrate) return calibrate(shell, flags, config);
  if (std::filesystem::exists(std::filesystem::path(flags.task) / "task.toml"))
    return review_of_kernels(shell, flags, config);
  refactor.task = flags.task;
  for (const std::string& change : flags.changes) flags.options.changes.push_back({.file = change});
  for (const std::string& commit : flags.commits) flags.options.changes.push_back({.commit = commit});
  flags.options.commit = flags.commit ? app::Commit::yes : app::Commit::no;
  const auto outcome = with_steps(flags, [&](const auto& step) {
    refactor.step = step;
    return app::review_changes(shell, flags.options, flags.agents, config);
  });
  return end_of(outcome, flags);
}

base::Result<Exit> reviewers(const std::string& given_workspace, const bool& json) {
  TRY_ASSIGN(const auto records, app::list_reviewers(app::find_workspace(given_workspace)));
  if (json) {
    for (const app::ReviewerRecord& record : records) fmt::print("{}\n", base::canonical(record));
    return Exit::done;
  }
  if (records.empty()) fmt::print("no reviewer is on record; accelopt review --calibrate tries one\n");
  for (const app::ReviewerRecord& record : records) fmt::print("{}", reviewer_text(record));
  return Exit::done;
}

}  // namespace

void add_review(CommandLine& app, Action& chosen) {
  Command command = app.add("review", "Judge several changes blindly, run the objections to them, and choose one");
  command.footer(
      "Examples:\n"
      "  accelopt review accelopt-graph a.diff b.diff c.diff --model default   gates, objections, pairs in both "
      "orders\n"
      "  accelopt review suites/nkibench-cpu/silu a.cpp b.cpp                  kernels: verified, raced, objected to "
      "by "
      "shapes\n"
      "  accelopt review --calibrate --model default                           how often is this model right?\n"
      "  accelopt review --calibrate --pairs 20 --mailbox questions --exit-when-waiting\n");
  auto flags = std::make_shared<ReviewFlags>();
  command.option("task", &flags->task, "Folder of a refactoring task, or of a kernel's");
  command.option("change", &flags->changes, "Unified diffs, or new texts of the task's file; kernels as files");
  command.option("--of", &flags->commits, "A commit of the repository as a change (repeatable)");
  command.flag("--calibrate", flags->calibrate, "Ask about the bundled pairs, whose defects are known");
  command.option("--pairs", &flags->pairs, "With --calibrate: how many of the pairs (default: all 60)").at_least(1);
  command.option("--draws", &flags->options.draws, "Questions for each pair in each order").at_least(1).show_default();
  command.flag("--commit", flags->commit, "Confirm the chosen one and commit it on a branch of its own");
  command.flag("--json", flags->json, "One JSON object (docs/json.md)");
  declare(command, flags->agents);
  declare(command, flags->device);
  command.option("--tools", &flags->tools, "A folder with programs that the task's commands need (repeatable)");
  command.option("--seed", &flags->options.refactor.seed, "Seed of all inputs (default: random)");
  command.option("--knowledge", &flags->options.refactor.knowledge, "The knowledge store, or none");
  command.option("--workspace", &flags->workspace, "Folder of accelopt.db (default: found, as for `run`)");
  command.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return review(shell, *flags); }; });
}

void add_reviewer(CommandLine& app, Action& chosen) {
  Command command = app.add("reviewer", "Show how often each reviewer was right, and what became of its choices");
  struct Flags {
    std::string workspace;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  command.flag("--json", flags->json, "One JSON object per model (docs/json.md)");
  command.option("--workspace", &flags->workspace, "Folder of accelopt.db (default: found, as for `run`)");
  command.chosen(
      [&chosen, flags] { chosen = [flags](app::Shell&) { return reviewers(flags->workspace, flags->json); }; });
}

}  // namespace accelopt::cli
