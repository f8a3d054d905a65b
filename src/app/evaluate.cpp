// SPDX-License-Identifier: Apache-2.0
#include "app/evaluate.hpp"

#include <algorithm>
#include <cctype>

#include "app/interpretation.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/judge.hpp"
#include "model/target_description.hpp"

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

/// The baseline passes before its opponent is looked at.
base::Result<model::Evaluation> judge_in(evaluation::Evaluator& evaluator, const EvalRequest& request,
                                         const evaluation::MeasureSettings& settings, const EvalPorts& ports,
                                         const std::stop_token& stop) {
  const model::Task& task = request.task;
  ports.begin(request.interpret ? "drawing inputs and verifying the baseline"
                                : "drawing inputs, verifying and measuring the baseline");
  TRY_ASSIGN(const auto opened, base::as_result(evaluator.ask(evaluation::Open{task, settings}, stop)));
  for (const evaluation::DroppedFamily& dropped : opened.dropped_families) ports.note(evaluation::describe(dropped));
  for (const std::string& loose : opened.loose_bounds) ports.note(loose);
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
             base::as_result(evaluation::judge(
                 evaluator, model::Kernel(request.kernel.value_or(task.baseline)), model::Kernel(task.baseline),
                 {.opened = request.interpret || request.verify ? nullptr : &opened.baseline,
                  .begin = begin,
                  .confirm = request.confirm,
                  .profile = !request.interpret && !request.verify,
                  .stop = stop})));
  return std::move(judged.evaluation);
}

/// Verifies where nothing is timed.
base::Result<model::Evaluation> interpret(const Shell& shell, const EvalRequest& request, const EvalPorts& ports,
                                          evaluation::MeasureSettings settings) {
  TRY_ASSIGN(const Interpretation interpretation, interpretation_of(request.task));
  DeviceFlags device = request.device;
  device.device = interpretation.device;
  TRY_ASSIGN(const auto evaluator, make_evaluator(shell, device));
  settings.protocol = model::Protocol::verify;
  const EvalRequest smaller{.task = interpretation.task, .kernel = request.kernel, .interpret = true};
  TRY_ASSIGN(auto evaluation, judge_in(*evaluator, smaller, settings, ports, shell.stops.abort));
  return without_times(std::move(evaluation), interpretation);
}

}  // namespace

base::Result<model::Solution> read_kernel(const std::filesystem::path& file, const model::Task& task) {
  model::Solution kernel;
  TRY_ASSIGN(kernel.language, model::language_of_file(file.string(), model::target_of(task)));
  TRY_ASSIGN(std::string text, base::read_file(file));
  kernel.sources = {{file.filename().string(), std::move(text)}};
  return kernel;
}

base::Result<model::Evaluation> evaluate(const Shell& shell, const EvalRequest& request, const EvalPorts& ports) {
  evaluation::MeasureSettings settings;
  settings.seed = request.seed.value_or(base::random_seed());
  settings.host_run = request.host;
  settings.outputs = request.outputs;
  if (request.verify) settings.protocol = model::Protocol::verify;
  if (request.interpret) return interpret(shell, request, ports, settings);
  DelayPorts delays;
  delays.notice = ports.note;
  delays.waiting = [&](const model::DeviceWait& wait) { ports.note("accelopt: " + model::describe(wait)); };
  delays.progressed = [&](const model::StepShare& share) { ports.share(model::describe(share)); };
  TRY_ASSIGN(const Config config, load_config(find_workspace(request.workspace), shell.environment));
  TRY_ASSIGN(const auto evaluator,
             make_evaluator(shell, with_configured_workers(request.device, config), config, std::move(delays)));
  return judge_in(*evaluator, request, settings, ports, shell.stops.abort);
}

base::Result<ComparisonArm> read_arm(std::string_view text, const model::Task& task) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-. ").find(c) != std::string_view::npos;
  });
  if (equals == std::string_view::npos || name.empty() || !plain || equals + 1 == text.size()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--against wants NAME=FILE, a kernel of the same task, or NAME=!COMMAND, a program that times "
                      "itself, under a name of letters, digits, \"_\", "
                      "\"-\", \".\" and blanks");
  }
  TRY_ASSIGN(model::Solution kernel, read_kernel(std::filesystem::path(text.substr(equals + 1)), task));
  return ComparisonArm{name, std::move(kernel)};
}

base::Result<std::vector<ComparedArm>> evaluate_arms(const Shell& shell, const EvalRequest& request,
                                                     const std::vector<ComparisonArm>& arms, const EvalPorts& ports) {
  std::vector<ComparedArm> out;
  for (const ComparisonArm& arm : arms) {
    EvalRequest own = request;
    own.kernel = arm.kernel;
    const EvalPorts named{.begin = [&](const std::string& step) { ports.begin(arm.name + ": " + step); },
                          .share = ports.share,
                          .note = ports.note};
    TRY_ASSIGN(model::Evaluation evaluation, evaluate(shell, own, named));
    out.push_back({arm.name, std::move(evaluation)});
  }
  return out;
}

std::optional<model::Interval> speed_over(const model::Evaluation& kernel, const model::Evaluation& arm) {
  if (!kernel.ratio || !arm.ratio || arm.ratio->low <= 0) return std::nullopt;
  return model::Interval{kernel.ratio->estimate / arm.ratio->estimate, kernel.ratio->low / arm.ratio->high,
                         kernel.ratio->high / arm.ratio->low};
}

bool same_code(const model::Evaluation& kernel, const model::Evaluation& arm) {
  return !kernel.machine_code_id.empty() && kernel.machine_code_id == arm.machine_code_id;
}

base::Json to_json(const model::Task& task, const model::Evaluation& evaluation, const std::vector<ComparedArm>& arms) {
  base::Json out = evaluation;
  out.erase("samples");
  if (evaluation.tuning) out["tuning"].erase("heats");
  out["type"] = "evaluation";
  out["schema"] = 1;
  out["task"] = task.definition.name;
  for (const ComparedArm& arm : arms) {
    out["against"].push_back({{"name", arm.name},
                              {"status", model::to_string(arm.evaluation.status)},
                              {"reason", arm.evaluation.reason},
                              {"ratio", arm.evaluation.ratio},
                              {"speed_over", speed_over(evaluation, arm.evaluation)},
                              {"source_id", arm.evaluation.source_id}});
  }
  return out;
}

}  // namespace accelopt::app
