// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command_arm.hpp"
#include "app/evaluate.hpp"
#include "base/hash.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "cli/verdict_text.hpp"
#include "report/format.hpp"
#include "report/step_progress.hpp"
#include "search/settings.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct EvalOptions {
  std::string task;
  std::string file;
  bool json = false;
  bool confirm = false;
  bool interpret = false;
  bool host = false;
  std::string workspace;
  std::string preset = "default";
  std::vector<std::string> against;
  std::string export_markdown;
  std::optional<std::uint64_t> seed;
  app::DeviceFlags device;
};

/// The verdict, and the arms that the kernel was compared with.
report::Document page_of(const model::Task& task, const model::Evaluation& evaluation,
                         const std::vector<app::ComparedArm>& arms) {
  report::Document page = verdict_page(task, evaluation);
  if (arms.empty()) return page;
  const auto ratio_text = [](const std::optional<model::Interval>& ratio) {
    return ratio ? report::format_ratio(*ratio) : std::string("-");
  };
  report::TextTable table({{"against"}, {"verdict"}, {"its speed over the baseline"}, {"this kernel's speed over it"}});
  for (const app::ComparedArm& arm : arms) {
    table.add({arm.name, std::string(to_string(arm.evaluation.status)), ratio_text(arm.evaluation.ratio),
               app::same_code(evaluation, arm.evaluation) ? "same machine code"
                                                          : ratio_text(app::speed_over(evaluation, arm.evaluation))});
  }
  page.heading("Compared on inputs of one seed");
  page.table(std::move(table));
  return page;
}

/// Programs that timed themselves, beside the kernel.
void add_commands(report::Document& page, const model::Evaluation& evaluation,
                  const std::vector<app::TimedCommand>& commands) {
  if (commands.empty()) return;
  report::TextTable table({{"against"}, {"workload"}, {"its time"}, {"this kernel's speed over it"}});
  for (const app::TimedCommand& command : commands) {
    for (const app::CommandTiming& one : command.workloads) {
      const auto ratio = app::speed_over(evaluation, one);
      table.add({command.arm.name, one.workload, report::format_ns(one.time_ns.estimate),
                 ratio ? report::format_ratio(*ratio) : "-"});
    }
    if (!command.failure.empty()) table.add({command.arm.name, "-", command.failure, "-"});
  }
  page.heading(fmt::format("Programs, each timed by {}", app::kOwnClock));
  page.table(std::move(table));
}

base::Result<Exit> show_evaluation(app::Shell& shell, const EvalOptions& options) {
  if (const auto usable = app::check(options.device); !usable) return refuse_options(usable.error());
  TRY_ASSIGN(const model::Task task,
             suites::load_task(options.task, options.interpret ? suites::ReferenceRuns::on_processor
                                                               : suites::ReferenceRuns::on_device));
  if (options.interpret && options.confirm)
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--confirm races in fresh processes, and --interpret times nothing; give one of them"});
  if (options.interpret && options.host)
    return refuse_options(
        {base::ErrorCode::invalid_argument,
         "--host calls the kernel's function on a device, and --interpret uses none; give one of them"});
  app::EvalRequest request{
      .task = task,
      .device = options.device,
      .workspace = options.workspace,
      .seed = options.seed,
      .confirm = options.confirm,
      .interpret = options.interpret,
      .host = options.host,
      .outputs = options.preset == search::kNkiBench ? model::OutputCheck::nkibench : model::OutputCheck::places};
  if (!options.file.empty()) {
    TRY_ASSIGN(request.kernel, app::read_kernel(options.file, request.task));
  }
  std::vector<app::ComparisonArm> arms;
  std::vector<app::CommandArm> programs;
  for (const std::string& text : options.against) {
    if (const auto program = app::command_arm(text)) {
      programs.push_back(*program);
      continue;
    }
    TRY_ASSIGN(app::ComparisonArm arm, app::read_arm(text, task));
    arms.push_back(std::move(arm));
  }
  if (!arms.empty() && !request.seed) request.seed = base::random_seed();
  report::StepProgress steps(stderr, {.live = !options.json && isatty(STDERR_FILENO) == 1});
  const app::EvalPorts ports{.begin = [&](const std::string& step) { steps.begin(step); },
                             .share = [&](const std::string& share) { steps.share(share); },
                             .note = [&](const std::string& text) { steps.note(text); }};
  TRY_ASSIGN(const auto evaluation, app::evaluate(shell, request, ports));
  TRY_ASSIGN(const auto compared, app::evaluate_arms(shell, request, arms, ports));
  std::vector<app::TimedCommand> commands;
  for (const app::CommandArm& program : programs) {
    ports.begin(program.name + ": running the command");
    TRY_ASSIGN(app::TimedCommand timed, app::time_command(shell, program, task));
    commands.push_back(std::move(timed));
  }
  steps.end();
  report::Document page = page_of(task, evaluation, compared);
  add_commands(page, evaluation, commands);
  if (options.json) {
    base::Json out = app::to_json(task, evaluation, compared);
    for (const app::TimedCommand& timed : commands) out["against"].push_back(app::to_json(evaluation, timed));
    fmt::print("{}\n", base::canonical(out));
  }
  if (!options.json) fmt::print("{}", page.to_text());
  TRY(report::export_markdown(page, options.export_markdown));
  const auto wanted = options.interpret ? model::Status::not_measured : model::Status::passed;
  return evaluation.status == wanted ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_eval(CommandLine& app, Action& chosen) {
  Command command = app.add("eval", "Build, verify and race one kernel against the task's baseline");
  command.footer(
      "Examples:\n"
      "  accelopt eval my_task faster.cpp        is it correct, and is it faster?\n"
      "  accelopt eval my_task                   the baseline against itself\n"
      "  accelopt eval my_task faster.cpp --confirm   would a run report it?\n"
      "  accelopt eval my_task faster.py --interpret  is a Triton kernel correct? Without a GPU\n"
      "  accelopt eval my_task faster.py --host       what does a call cost its users, and is it the same bit for "
      "bit?\n"
      "  accelopt eval my_task faster.cpp --against theirs=colleague.cpp   which of the two is faster?\n"
      "  accelopt eval my_task faster.cpp --worker \"ssh host accelopt worker --device cpu:1\"\n");
  auto options = std::make_shared<EvalOptions>();
  command.option("task", &options->task, "Folder of the task").required();
  command.option("file", &options->file, "The kernel (default: the baseline itself)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.flag(
      "--confirm", options->confirm,
      "Confirm it as a run confirms its winner: held-out workloads, fresh processes, and tools that watch its calls");
  command.flag("--interpret", options->interpret,
               "Verify it with its language's interpreter, without a device; nothing is timed");
  command.flag("--host", options->host,
               "Also call the solution's own Python function through PyTorch, time it, and compare its results");
  command
      .option(
          "--preset", &options->preset,
          "nkibench: whole outputs of an NKI kernel on a modelled Trainium, by the public benchmark's own inputs and "
          "tolerance")
      .one_of({"default", "nkibench"})
      .show_default();
  command.option(
      "--against", &options->against,
      "NAME=FILE: another kernel of the task to compare with, raced against the same baseline; NAME=!COMMAND: a "
      "program of yours that prints the times of its calls (docs/tasks.md); repeatable");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs, whose accelopt.toml names the workers (default: the nearest .accelopt here or "
                 "above)");
  command.option("--export-markdown", &options->export_markdown, "Also write the verdict to this file, as Markdown");
  command.option("--seed", &options->seed, "Seed of the inputs (default: random)");
  declare(command, options->device);
  command.chosen(
      [&chosen, options] { chosen = [options](app::Shell& shell) { return show_evaluation(shell, *options); }; });
}

}  // namespace accelopt::cli
