// SPDX-License-Identifier: Apache-2.0
#include "versions/samples.hpp"

#include <limits>

namespace accelopt::versions {

using model::Interval;

namespace {

const Interval kGain{1.5, 1.25, 1.75};

model::TensorSpec tensor(const std::string& name, const std::vector<std::string>& shape,
                         model::DType dtype = model::DType::float32) {
  model::TensorSpec made;
  made.name = name;
  made.shape = shape;
  made.dtype = dtype;
  return made;
}

model::WorkloadTiming full_timing() {
  return {.name = "large",
          .role = model::Role::race,
          .time_ns = 1250.5,
          .reference_ns = 2500.25,
          .ratio = kGain,
          .roofline = model::RooflinePoint{500, 0.4, "memory"}};
}

}  // namespace

model::Solution sample_solution(model::Language language, const std::string& file) {
  const std::string text = language == model::Language("python") ? "def kernel(x):\r\n    return x  # same\n"
                                                                 : "// a note\nvoid kernel(int M)  { }\n";
  return {language, {{file, text}, {"helper.h", "#define N 4\n"}}};
}

model::Task plain_task() {
  model::Task task;
  task.definition.name = "scale";
  task.definition.axes = {{"M", std::nullopt}, {"K", 128}};
  task.definition.inputs = {tensor("x", {"M", "K"}), {}};
  task.definition.inputs[1].name = "a";
  task.definition.outputs = {tensor("y", {"M", "K"})};
  task.workloads = {{"large", {{"M", 64}}, model::Role::race, 1.0}};
  task.baseline = {model::Language::cpp, {{"baseline.cpp", "void kernel();\n"}}};
  task.reference = {"reference.cpp", "void reference();\n"};
  return task;
}

model::Task paged_task() {
  model::Task task = plain_task();
  task.definition.inputs.push_back(tensor("ids", {"M"}, model::DType::int32));
  task.definition.inputs.back().init = model::parse_init("distinct(0, min(2 * M, 4096))").value();
  task.definition.inputs.push_back(tensor("ptr", {"M"}, model::DType::int64));
  task.definition.inputs.back().init = model::parse_init("indptr(M + 1)").value();
  task.workloads.push_back({"small", {{"M", 3}}, model::Role::check, 1.0});
  task.workloads.back().inits.emplace("ptr", model::parse_init("values(0, 1, 4)").value());
  task.workloads.back().inits.emplace("a", model::parse_init("constant(0.125)").value());
  return task;
}

model::Task task_of_a_function() {
  model::Task task = plain_task();
  task.entry = {
      .file = "../scale.cpp", .function = "scale", .args = {"x", "a", "y", "int M"}, .content = std::string(64, 'a')};
  return task;
}

model::Task full_task() {
  model::Task task = plain_task();
  model::Definition& definition = task.definition;
  definition.op_type = "softmax";
  definition.description = "row \"softmax\"\nwith a caf\xc3\xa9";
  definition.inputs[0].init = model::parse_init("uniform(-1, 2.5)").value();
  definition.inputs[0].families = model::parse_family("scaled").value();
  definition.inputs.push_back(tensor("state", {"K"}));
  definition.inputs.back().inout = true;
  definition.outputs.push_back(tensor("state", {"K"}));
  definition.outputs.back().inout = true;
  definition.outputs.push_back(tensor("place", {"M"}, model::DType::uint32));
  definition.outputs.back().ties = "distance";
  definition.outputs.push_back(tensor("sum", {}));
  definition.ties = {tensor("distance", {"M", "K"}, model::DType::float64)};
  definition.numerics = {true, 0.001};
  definition.cost = {"2 * M * K", "8 * M * K"};
  definition.small_floats = model::SmallFloats::native;
  task.workloads.push_back({"odd", {{"M", 7}}, model::Role::check, 0.5});
  task.workloads.push_back({"hidden", {{"M", 9}}, model::Role::held_out, 2.0});
  task.cpu = {4, model::Cache::warm};
  task.derived_reference = true;
  task.hints = "rows are independent\n";
  task.entry = model::Entry{"src/scale.cpp", "scale", {"x", "a", "int M", "state", "y", "place"}, "sum"};
  return task;
}

model::Usage full_usage() {
  return {.calls = 3,
          .input_tokens = 1000,
          .cached_input_tokens = 400,
          .output_tokens = 200,
          .reasoning_tokens = 50,
          .transport_retries = 1,
          .usd = 0.125,
          .unpriced_calls = 1,
          .estimated_calls = 2};
}

model::Experience full_experience() {
  model::Experience it;
  it.id = "e12";
  it.title = "Swap the loops";
  it.strategy = "Where a loop strides, make it the inner one.";
  it.before = "for j: for k: c[j] += b[k, j]";
  it.after = "for k: for j: c[j] += b[k, j]";
  it.diff = "--- slow\n+++ fast\n@@ -1 +1 @@\n-a\n+b\n";
  it.polarity = model::Polarity::mends;
  it.effect = kGain;
  it.workloads = {{"large", kGain}, {"odd", model::of_unknown_width(2)}};
  it.language = "cpp";
  it.op_type = "matmul";
  it.target = "cpu";
  it.device = "a processor";
  it.bound = "memory";
  it.task = "matmul_small";
  it.slow = "slow1";
  it.fast = "fast1";
  it.run = "20260102-0304-abcd";
  it.iteration = 2;
  it.created = "2026-01-02T03:04:05Z";
  it.model = "a model";
  it.toolchain = "g++ 12 -O3";
  it.credit = {5, 3, 2, 1};
  it.agreeing = 4;
  it.contradicting = 1;
  return it;
}

model::Profile failed_profile() {
  return {.items = {{"instructions", 1e9, "", "executed"},
                    {"misses", std::numeric_limits<double>::quiet_NaN(), "1/s", "of the last level"}},
          .remarks = {"line 12: loop vectorized"},
          .notes = {"no counters: perf_event_paranoid is 3"},
          .failed_as = model::Status::runtime_error,
          .failure = "signal 11"};
}

model::Evaluation full_evaluation() {
  model::Evaluation it;
  it.status = model::Status::passed;
  it.reason = "error 1e-7 of 1e-3";
  it.mismatch = model::Mismatch{"large", "ones", "y", 17, 1.5, std::numeric_limits<double>::infinity(), 0.25, 0.125};
  it.verdict = model::Verdict::faster;
  it.ratio = kGain;
  it.opponent = "parent";
  it.kind = model::EvaluationKind::triage;
  it.decided_by = model::DecidedBy::race;
  it.blocks = 8;
  it.workloads = {full_timing(), {"odd", model::Role::check, 10, std::nullopt, std::nullopt, std::nullopt}};
  it.stages = {{model::Stage::build, 0.5}, {model::Stage::verify, 0.25}};
  it.notes = {"the counters agree"};
  it.samples = {{{2500, 10}, {1250, 9}, 3, true, {1260}, {1980}, {1975}, {1970}, {40}, {41}, {42}},
                {{2500}, {1250}, 4, false}};
  it.profile = failed_profile();
  it.profile->failed_as = model::Status::passed;
  it.profile->failure.clear();
  it.tuning =
      model::Tuning{.source_id = "open",
                    .names = {"A", "B"},
                    .sets = {{1, 2}, {8, 16}},
                    .combinations = 4,
                    .configurations = 3,
                    .chosen = std::vector<std::int64_t>{2, 16},
                    .field = {{{2, 16}, model::TunedFate::chosen, model::Status::passed, "", 12, Interval{1, 1, 1}},
                              {{1, 8}, model::TunedFate::failed, model::Status::timeout, "over 10 s", 0, std::nullopt}},
                    .heats = {{1, {0, 1}, 0.5, {{0, 0}, {-0.25, -0.125}}}},
                    .seconds = 1.5};
  it.environment = {"a processor", "g++ 12", "-O3", "namespaces+seccomp", 0xFEDCBA9876543210, true};
  it.trust = "isolated";
  it.source_id = "source";
  it.machine_code_id = "code";
  it.duplicate_of = "i0.b0.p1.a0";
  return it;
}

evaluation::MeasureSettings full_settings() {
  evaluation::MeasureSettings it;
  it.seed = 7;
  it.slots = 10;
  it.max_seconds_per_workload = 3;
  it.max_tuning_seconds = 61;
  it.playoff_min_blocks = 13;
  it.playoff_max_blocks = 49;
  it.confirm_min_blocks = 33;
  it.confirm_max_blocks = 101;
  it.confirm_restarts = 4;
  it.confirm_half_width = 0.02;
  it.allow_regression = 0.25;
  it.call_limit_seconds = 11;
  it.protocol = model::Protocol::paper;
  it.known_peaks = full_open_report().device.peaks;
  return it;
}

evaluation::OpenReport full_open_report() {
  evaluation::OpenReport it;
  it.device = {"a processor",
               "4 cores",
               "g++ 12",
               "namespaces",
               {1e11, 5e10, 2e10, 8e10, {{"float32", 256, 1e11}, {"float64", 64, 1e9}}, "2026-11-21", 1e14, 5e13}};
  it.baseline = full_evaluation();
  it.task_header = "/* task.h */\n";
  it.dropped_families = {{"large", "huge"}};
  return it;
}

evaluation::PlayoffReport full_playoff_report() {
  evaluation::PlayoffReport it;
  it.arms = {{true, false, "", {1, 1, 1}, {full_timing()}, 12}, {false, true, "signal 9", kGain, {}, 3}};
  it.blocks = 12;
  it.separated = true;
  it.notes = {"the machine was busy"};
  return it;
}

search::RunResult full_result() {
  search::RunResult it;
  it.run = "r1";
  it.task = "scale";
  it.outcome = search::RunOutcome::improved;
  it.stopped_by = model::EndReason::near_roofline;
  it.stopped_because = "large is at 95 % of memory";
  it.confirmation = full_evaluation();
  it.confirmation->kind = model::EvaluationKind::confirm;
  it.solution = sample_solution(model::Language::cpp, "kernel.cpp");
  it.solution_id = "source";
  it.baseline = {full_timing()};
  it.counts = {{"PASSED", 3}, {"TIMEOUT", 1}};
  it.known = 1;
  it.usage = {{"planner", full_usage()}, {"executor", {}}};
  it.evaluations = 4;
  it.iterations = 2;
  it.experiences = 1;
  it.plans = 4;
  it.gains = 1;
  it.device_seconds = 12.5;
  it.wall_seconds = 60.25;
  it.bundles = {"bundles/0001-abc"};
  it.device = "a processor";
  it.decision_hash = "hash";
  it.noise = {{"smallest_found", 0.01}};
  it.estimate = {{"calls", {{"actual", 4}}}};
  it.derived_reference = true;
  return it;
}

std::vector<model::Event> every_event() {
  const model::Identity identity{2, 0, 3, 1, 0};
  const model::BeamMember member{identity, "swap loops", kGain};
  return {model::RunStarted{"r1", "matmul", "CPU", 6, 1.5e6, 0.25, 48},
          model::IterationStarted{1, 3},
          model::AttemptMoved{identity, model::AttemptState::done, "swap", model::Status::passed, kGain,
                              model::kKnownAlready},
          model::Learned{"tile", model::Polarity::regresses, kGain},
          model::Selected{1, {member, {{}, "", {1, 1, 1}}}, member, 14, full_usage()},
          model::Confirming{identity, "swap loops"},
          model::RunFinished{"improved", "near_roofline", kGain, 12.5, "95 % of memory"},
          model::Spending{full_usage(), 14, 3.5, 12.25},
          model::DeviceWait{model::DeviceWait::State::shared, {4711, "sleep", "ann", 1'700'000'000'000}, 61},
          model::Note{"noisy"}};
}

}  // namespace accelopt::versions
