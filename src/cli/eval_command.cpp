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
#include "model/tuning.hpp"
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

model::Evaluation build_failure(const model::Solution& candidate, const model::BuildReport& build,
                                const model::Evaluation& baseline) {
  model::Evaluation failed;
  failed.status = model::Status::compile_error;
  failed.reason = build.diagnostics;
  failed.source_id = model::source_id(candidate);
  failed.trust = baseline.trust;
  failed.environment = baseline.environment;
  failed.stages.push_back({"build", build.seconds});
  return failed;
}

/// What a machine that builds and cannot run tells of a kernel: whether it builds, and what the compiler remarks.
base::Result<model::Evaluation> build_alone(evaluation::Evaluator& evaluator, const model::Solution& candidate,
                                            const model::Evaluation& baseline, const std::stop_token& stop) {
  TRY_ASSIGN(const auto build, evaluator.ask(evaluation::Build{candidate}, stop));
  if (!build.built) return build_failure(candidate, build, baseline);
  model::Evaluation evaluation = baseline;
  evaluation.source_id = model::source_id(candidate);
  evaluation.machine_code_id = build.machine_code_id;
  evaluation.stages = {{"build", build.seconds}};
  evaluation.profile = model::Profile{{}, build.remarks};
  return evaluation;
}

/// What a run asks of its winner, of a candidate that was raced: its tuning and its stages stay.
base::Result<model::Evaluation> confirm_raced(evaluation::Evaluator& evaluator, const model::Solution& candidate,
                                              model::Evaluation raced, const std::stop_token& stop) {
  TRY_ASSIGN(auto evaluation, evaluator.ask(evaluation::Confirm{candidate}, stop));
  evaluation.tuning = std::move(raced.tuning);
  evaluation.stages.insert(evaluation.stages.begin(), raced.stages.begin(), raced.stages.end());
  return evaluation;
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
  TRY_ASSIGN(const auto opened, evaluator->ask(evaluation::Open{task, settings}, shell.stops.abort));
  if (opened.baseline.status == model::Status::not_measured)
    return build_alone(*evaluator, candidate, opened.baseline, shell.stops.abort);
  if (opened.baseline.status != model::Status::passed) {
    model::Evaluation failed = opened.baseline;
    if (!options.file.empty())
      failed.reason = "the baseline fails, so nothing can be compared with it: " + failed.reason;
    return failed;
  }
  steps.begin("building the kernel");
  TRY_ASSIGN(const auto build, evaluator->ask(evaluation::Build{candidate}, shell.stops.abort));
  if (!build.built) return build_failure(candidate, build, opened.baseline);
  steps.begin("verifying the kernel and racing it against the baseline");
  TRY_ASSIGN(auto evaluation, evaluator->ask(evaluation::Race{candidate, task.baseline}, shell.stops.abort));
  if (evaluation.tuning && evaluation.tuning->chosen) {
    candidate = model::with_values(candidate, *evaluation.tuning->chosen);
  } else {
    evaluation.machine_code_id = build.machine_code_id;
    TRY_ASSIGN(const auto baseline, evaluator->ask(evaluation::Build{task.baseline}, shell.stops.abort));
    if (evaluation.status == model::Status::passed && build.machine_code_id == baseline.machine_code_id) {
      evaluation.verdict = model::Verdict::tie;  // one session in a hundred or so would find a difference
      const std::string seen = evaluation.reason.empty() ? "" : "; " + evaluation.reason;  // who disturbed it
      evaluation.reason = "the same machine code as the baseline: a difference is this machine's noise" + seen;
    }
  }
  evaluation.source_id = model::source_id(candidate);
  evaluation.stages.insert(evaluation.stages.begin(), {"build", build.seconds});
  if (options.confirm && evaluation.status == model::Status::passed) {
    steps.begin("confirming it in fresh processes on fresh inputs");
    TRY_ASSIGN(evaluation, confirm_raced(*evaluator, candidate, std::move(evaluation), shell.stops.abort));
  }
  if (evaluation.status == model::Status::passed) {
    steps.begin("profiling the kernel");
    TRY_ASSIGN(evaluation.profile, evaluator->ask(evaluation::Profile{candidate}, shell.stops.abort));
    model::take_failure(evaluation);
  }
  return evaluation;
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
