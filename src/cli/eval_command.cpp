// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "app/evaluate.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "cli/verdict_text.hpp"
#include "report/step_progress.hpp"
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
  std::string export_markdown;
  std::optional<std::uint64_t> seed;
  app::DeviceFlags device;
};

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
  app::EvalRequest request{.task = task,
                           .device = options.device,
                           .seed = options.seed,
                           .confirm = options.confirm,
                           .interpret = options.interpret,
                           .host = options.host};
  if (!options.file.empty()) {
    TRY_ASSIGN(request.kernel, app::read_kernel(options.file, request.task));
  }
  report::StepProgress steps(stderr, {.live = !options.json && isatty(STDERR_FILENO) == 1});
  TRY_ASSIGN(const auto evaluation, app::evaluate(shell, request,
                                                  {.begin = [&](const std::string& step) { steps.begin(step); },
                                                   .share = [&](const std::string& share) { steps.share(share); },
                                                   .note = [&](const std::string& text) { steps.note(text); }}));
  steps.end();
  if (options.json)
    fmt::print("{}\n", base::canonical(app::to_json(task, evaluation)));
  else
    fmt::print("{}", verdict_page(task, evaluation).to_text());
  TRY(report::export_markdown(verdict_page(task, evaluation), options.export_markdown));
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
      "  accelopt eval my_task faster.cpp --worker \"ssh host accelopt worker --device cpu:1\"\n");
  auto options = std::make_shared<EvalOptions>();
  command.option("task", &options->task, "Folder of the task").required();
  command.option("file", &options->file, "The kernel (default: the baseline itself)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.flag("--confirm", options->confirm,
               "Confirm it as a run does its winner: held-out workloads, fresh processes, and what watches its calls");
  command.flag("--interpret", options->interpret,
               "Verify it by its language's interpreter, where there is no device: nothing is timed");
  command.flag("--host", options->host,
               "Also call the solution's own Python function by PyTorch, time it, and compare what it computes");
  command.option("--export-markdown", &options->export_markdown, "Also write the verdict to this file, as Markdown");
  command.option("--seed", &options->seed, "Of the inputs (default: drawn)");
  declare(command, options->device);
  command.chosen(
      [&chosen, options] { chosen = [options](app::Shell& shell) { return show_evaluation(shell, *options); }; });
}

}  // namespace accelopt::cli
