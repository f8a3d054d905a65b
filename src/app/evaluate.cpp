// SPDX-License-Identifier: Apache-2.0
#include "app/evaluate.hpp"

#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/judge.hpp"

namespace accelopt::app {
namespace {

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

}  // namespace

base::Result<model::Solution> read_kernel(const std::filesystem::path& file) {
  model::Solution kernel;
  TRY_ASSIGN(kernel.language, model::language_of_file(file.string()));
  TRY_ASSIGN(std::string text, base::read_file(file));
  kernel.sources = {{file.filename().string(), std::move(text)}};
  return kernel;
}

base::Result<model::Evaluation> evaluate(const Shell& shell, const EvalRequest& request, const EvalPorts& ports) {
  const model::Task& task = request.task;
  DelayPorts delays;
  delays.notice = ports.note;
  delays.waiting = [&](const model::DeviceWait& wait) { ports.note("accelopt: " + model::describe(wait)); };
  delays.progressed = [&](const model::StepShare& share) { ports.share(model::describe(share)); };
  TRY_ASSIGN(const Config config, load_config(find_workspace(""), shell.environment));
  TRY_ASSIGN(const auto evaluator,
             make_evaluator(shell, with_configured_workers(request.device, config), config, std::move(delays)));
  evaluation::MeasureSettings settings;
  settings.seed = request.seed.value_or(base::random_seed());
  ports.begin("drawing inputs, verifying and measuring the baseline");
  TRY_ASSIGN(const auto opened, base::as_result(evaluator->ask(evaluation::Open{task, settings}, shell.stops.abort)));
  if (opened.baseline.status != model::Status::passed && opened.baseline.status != model::Status::not_measured) {
    model::Evaluation failed = opened.baseline;
    if (request.kernel) failed.reason = "the baseline fails, so nothing can be compared with it: " + failed.reason;
    return failed;
  }
  const auto begin = [&](evaluation::JudgeStep step) -> base::Outcome<void> {
    ports.begin(std::string(words_of(step)));
    return {};
  };
  TRY_ASSIGN(auto judged,
             base::as_result(evaluation::judge(*evaluator, model::Kernel(request.kernel.value_or(task.baseline)),
                                               model::Kernel(task.baseline),
                                               {.opened = &opened.baseline,
                                                .begin = begin,
                                                .confirm = request.confirm,
                                                .profile = true,
                                                .stop = shell.stops.abort})));
  return std::move(judged.evaluation);
}

base::Json to_json(const model::Task& task, const model::Evaluation& evaluation) {
  base::Json out = evaluation;
  out.erase("samples");
  if (evaluation.tuning) out["tuning"].erase("heats");
  out["type"] = "evaluation";
  out["schema"] = 1;
  out["task"] = task.definition.name;
  return out;
}

}  // namespace accelopt::app
