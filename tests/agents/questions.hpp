// SPDX-License-Identifier: Apache-2.0
// One task and one question of each role, for the tests of the agents.
#pragma once

#include <string>
#include <string_view>

#include "agents/prompts.hpp"
#include "agents/roles.hpp"

namespace accelopt::agents {

inline bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The built-in ones.
inline const Prompts& prompts() {
  static const Prompts loaded = load_prompts().value();
  return loaded;
}

constexpr const char* kKernel =
    "#include \"task.h\"\n\nvoid kernel(const float* x, float* y, int64_t M) {\n"
    "  for (int64_t i = 0; i < M * K; ++i) y[i] = 2.0f * x[i];\n}\n";

/// A task whose held-out workload is called "hidden_axis" and binds M to 97531.
inline model::Task example_task() {
  model::Task task;
  model::Definition& definition = task.definition;
  definition.name = "doubling";
  definition.op_type = "scale";
  definition.description = "y = 2 x";
  definition.axes = {{"M", std::nullopt}, {"K", 64}};
  model::TensorSpec x;
  x.name = "x";
  x.shape = {"M", "K"};
  x.families = {model::Family::scaled_up, model::Family::sparse};
  model::TensorSpec y;
  y.name = "y";
  y.shape = {"M", "K"};
  definition.inputs = {x};
  definition.outputs = {y};
  definition.cost = {"M*K", "8*M*K"};
  task.workloads = {{"large", {{"M", 4096}}, model::Role::race, 2.5},
                    {"odd", {{"M", 61}}, model::Role::check, 1.0},
                    {"hidden_axis", {{"M", 97531}}, model::Role::held_out, 1.0}};
  task.hints = "The rows are short.";
  task.baseline = {model::Language::cpp, {{"baseline.cpp", kKernel}}};
  return task;
}

inline Context example_context(const model::Task& task) {
  Context context;
  context.identity = {.iteration = 1, .parent = 0, .plan = 2};
  context.task = &task;
  context.task_header = "enum { K = 64 };\nvoid kernel(const float* x, float* y, int64_t M);\n";
  context.device = "Imaginary CPU, 2 cores, 256-bit vectors";
  context.seed = 42;
  return context;
}

inline model::Evaluation example_evaluation() {
  model::Evaluation evaluation;
  evaluation.status = model::Status::passed;
  model::WorkloadTiming large;
  large.name = "large";
  large.role = model::Role::race;
  large.time_ns = 3'210'000;
  large.roofline = model::RooflinePoint{401'000, 0.125, "memory"};
  model::WorkloadTiming hidden;
  hidden.name = "hidden_axis";
  hidden.role = model::Role::held_out;
  hidden.time_ns = 5'550'000;
  evaluation.workloads = {large, hidden};
  model::Profile profile;
  profile.items = {{"cold time", 3'210'000, "ns", "median of a call"},
                   {"rate", 0.164, "GFLOP/s", "least work over time"},
                   {"traffic", 1.31, "GB/s", "least traffic over time"},
                   {"intensity", 0.125, "flop/byte", "least work over least traffic"},
                   {"code size", 96, "bytes", "of the kernel"}};
  profile.remarks = {"line 4: loop vectorized using 32 byte vectors"};
  evaluation.profile = profile;
  return evaluation;
}

inline model::Experience example_experience() {
  model::Experience experience;
  experience.id = "e12";
  experience.title = "Swap the loops";
  experience.strategy = "When the inner loop strides, swap.";
  experience.before = "for i: for j: a[j][i]";
  experience.after = "for j: for i: a[j][i]";
  experience.diff = "-secret_diff_line";
  experience.effect = {1.84, 1.79, 1.9};
  experience.op_type = "transpose";
  experience.bound = "memory";
  return experience;
}

inline PlanQuestion example_plan_question(const model::Task& task) {
  PlanQuestion question;
  question.context = example_context(task);
  question.kernel = model::Kernel(task.baseline);
  question.evaluation = example_evaluation();
  question.memory = {example_experience()};
  question.tried = {{"Copy the rows first", "0.91x"}};
  return question;
}

inline model::Plan example_plan() {
  return {"Do it twice", {"e12"}, "First this,\nthen that."};
}

inline ExecuteQuestion example_execute_question(const model::Task& task) {
  return {example_context(task), model::Kernel(task.baseline), example_plan()};
}

inline FixQuestion example_fix_question(const model::Task& task) {
  FixQuestion question;
  question.context = example_context(task);
  question.parent = model::Kernel(task.baseline);
  question.broken =
      model::Kernel(model::with_main_text(task.baseline, "#include \"task.h\"\nvoid kernel(broken) {}\n"));
  question.plan = example_plan();
  question.status = model::Status::compile_error;
  question.diagnostics = "line 2: error: 'broken' was not declared in this scope";
  return question;
}

inline SummarizeQuestion example_summarize_question(const model::Task& task) {
  SummarizeQuestion question;
  question.context = example_context(task);
  question.parent = question.slow = model::Kernel(task.baseline);
  question.fast =
      model::Kernel(model::with_main_text(task.baseline, "#include \"task.h\"\nvoid kernel(/* the fast one */) {}\n"));
  question.diff = "@@ -1 +1 @@\n-slow\n+fast\n";
  question.plan = example_plan();
  question.parent_evaluation = question.slow_evaluation = example_evaluation();
  question.fast_evaluation = example_evaluation();
  question.fast_evaluation.profile.reset();
  question.effect = {1.5, 1.4, 1.6};
  return question;
}

}  // namespace accelopt::agents
