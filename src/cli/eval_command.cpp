// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "app/run.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "cli/verdict_text.hpp"
#include "evaluation/judge.hpp"
#include "report/step_progress.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct EvalOptions {
  std::string task;
  std::string file;
  bool json = false;
  bool confirm = false;
  std::string export_markdown;
  std::optional<std::uint64_t> seed;
  DeviceFlags device;
};

/// The evaluation object of docs/json.md.
base::Json to_output(const model::Task& task, const model::Evaluation& evaluation) {
  base::Json out = evaluation;
  out.erase("samples");
  if (evaluation.tuning) out["tuning"].erase("heats");
  out["type"] = "evaluation";
  out["schema"] = 1;
  out["task"] = task.definition.name;
  return out;
}

std::string_view words_of(evaluation::JudgeStep step) {
  switch (step) {
    case evaluation::JudgeStep::build:
      return "building the kernel";
    case evaluation::JudgeStep::race:
      return "verifying the kernel and racing it against the baseline";
    case evaluation::JudgeStep::confirm:
      return "confirming it in fresh processes on fresh inputs";
    case evaluation::JudgeStep::profile:
      return "profiling the kernel";
  }
  return "";
}

/// Builds, verifies and races one file against the baseline. Without a file the baseline races itself.
base::Result<model::Evaluation> evaluate(Shell& shell, const EvalOptions& options, const model::Task& task,
                                         report::StepProgress& steps) {
  model::Solution candidate = task.baseline;
  if (!options.file.empty()) {
    TRY_ASSIGN(candidate.language, model::language_of_file(options.file));
    TRY_ASSIGN(std::string text, base::read_file(options.file));
    candidate.sources = {{std::filesystem::path(options.file).filename().string(), std::move(text)}};
  }
  DelayPorts ports;
  ports.notice = [&](const std::string& text) { steps.note(text); };
  ports.waiting = [&](const model::DeviceWait& wait) { steps.note("accelopt: " + model::describe(wait)); };
  ports.progressed = [&](const model::StepShare& share) { steps.share(model::describe(share)); };
  TRY_ASSIGN(const Config config, load_config(find_workspace(""), shell.environment));
  TRY_ASSIGN(const auto evaluator,
             make_evaluator(shell, with_configured_workers(options.device, config), config, std::move(ports)));
  evaluation::MeasureSettings settings;
  settings.seed = options.seed.value_or(base::random_seed());
  steps.begin("drawing inputs, verifying and measuring the baseline");
  TRY_ASSIGN(const auto opened, base::as_result(evaluator->ask(evaluation::Open{task, settings}, shell.stops.abort)));
  if (opened.baseline.status != model::Status::passed && opened.baseline.status != model::Status::not_measured) {
    model::Evaluation failed = opened.baseline;
    if (!options.file.empty())
      failed.reason = "the baseline fails, so nothing can be compared with it: " + failed.reason;
    return failed;
  }
  const auto begin = [&](evaluation::JudgeStep step) -> base::Outcome<void> {
    steps.begin(std::string(words_of(step)));
    return {};
  };
  TRY_ASSIGN(auto judged, base::as_result(evaluation::judge(*evaluator, model::Kernel(std::move(candidate)),
                                                            model::Kernel(task.baseline),
                                                            {.opened = &opened.baseline,
                                                             .begin = begin,
                                                             .confirm = options.confirm,
                                                             .profile = true,
                                                             .stop = shell.stops.abort})));
  return std::move(judged.evaluation);
}

base::Result<Exit> show_evaluation(Shell& shell, const EvalOptions& options) {
  if (const auto usable = check(options.device); !usable) return refuse_options(usable.error());
  TRY_ASSIGN(const model::Task task, suites::load_task(options.task));
  report::StepProgress steps(stderr, {.live = !options.json && isatty(STDERR_FILENO) == 1});
  TRY_ASSIGN(const auto evaluation, evaluate(shell, options, task, steps));
  steps.end();
  if (options.json)
    fmt::print("{}\n", base::canonical(to_output(task, evaluation)));
  else
    fmt::print("{}", verdict_page(task, evaluation).to_text());
  TRY(report::export_markdown(verdict_page(task, evaluation), options.export_markdown));
  return evaluation.status == model::Status::passed ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_eval(CommandLine& app, Action& chosen) {
  Command command = app.add("eval", "Build, verify and race one kernel against the task's baseline");
  command.footer(
      "Examples:\n"
      "  accelopt eval my_task faster.cpp        is it correct, and is it faster?\n"
      "  accelopt eval my_task                   the baseline against itself\n"
      "  accelopt eval my_task faster.cpp --confirm   would a run report it?\n"
      "  accelopt eval my_task faster.cpp --worker \"ssh host accelopt worker --device cpu:1\"\n");
  auto options = std::make_shared<EvalOptions>();
  command.option("task", &options->task, "Folder of the task").required();
  command.option("file", &options->file, "The kernel (default: the baseline itself)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.flag("--confirm", options->confirm,
               "Confirm it as a run does its winner: held-out workloads, fresh processes, and what watches its calls");
  command.option("--export-markdown", &options->export_markdown, "Also write the verdict to this file, as Markdown");
  command.option("--seed", &options->seed, "Of the inputs (default: drawn)");
  declare(command, options->device);
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return show_evaluation(shell, *options); }; });
}

}  // namespace accelopt::cli
