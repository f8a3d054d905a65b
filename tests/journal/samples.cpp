// SPDX-License-Identifier: Apache-2.0
#include "journal/samples.hpp"

namespace accelopt::journal {

model::Task sample_task() {
  model::Task task;
  task.definition.name = "scale";
  task.definition.op_type = "elementwise";
  task.definition.axes = {{"M", std::nullopt}, {"K", 128}};
  task.definition.inputs = {{"x", std::vector<std::string>{"M", "K"}, model::DType::float32, {}, {}}};
  task.definition.outputs = {{"y", std::vector<std::string>{"M", "K"}, model::DType::float32, {}, {}}};
  task.workloads = {{"large", {{"M", 64}}, model::Role::race, 1.0}};
  task.baseline = {model::Language::cpp, {{"baseline.cpp", "void kernel();\n"}}};
  task.reference = {"reference.cpp", "void reference();\n"};
  return task;
}

RunInfo sample_run(const std::string& id) {
  RunInfo run;
  run.id = id;
  run.task_name = "scale";
  run.task_folder = "/tasks/scale";
  run.task = sample_task();
  run.settings = {{"beam", 3}};
  run.seed = 0xFEDCBA9876543210;
  run.created = "2025-01-17T10:00:00Z";
  run.status = model::RunStatus::running;
  run.program_version = "0.1.0";
  return run;
}

StepRecord sample_step(int attempt, const std::string& kind, const std::string& input_hash, base::Json output) {
  StepRecord step;
  step.key = {{.iteration = 1, .parent = 2, .plan = 3, .attempt = attempt, .fix = 0}, kind};
  step.input_hash = input_hash;
  step.output = std::move(output);
  step.usage = {.calls = 1, .input_tokens = 1000, .output_tokens = 200, .usd = 0.25};
  step.started = std::chrono::milliseconds(1500);
  step.duration = std::chrono::milliseconds(250);
  return step;
}

}  // namespace accelopt::journal
