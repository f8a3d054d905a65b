// SPDX-License-Identifier: Apache-2.0
#include "suites/lint.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::suites {
namespace {

using base::Problem;
using base::Severity;

/// A task that gives the linter nothing to say.
model::Task sound_task() {
  model::Task task;
  task.definition.name = "scale";
  task.definition.axes = {{"M", std::nullopt}, {"K", 128}};
  task.definition.inputs = {
      {"x", std::vector<std::string>{"M", "K"}, model::DType::float32, {}, {model::Family::positive}}};
  task.definition.outputs = {{"y", std::vector<std::string>{"M", "K"}, model::DType::float32, {}, {}}};
  task.definition.cost = {"M*K", "8*M*K"};
  task.workloads = {{"large", {{"M", 64}}, model::Role::race, 1.0},
                    {"odd", {{"M", 61}}, model::Role::check, 1.0},
                    {"hidden", {{"M", 17}}, model::Role::held_out, 1.0}};
  task.baseline = {model::Language::cpp, {{"baseline.cpp", "extern \"C\" void kernel(const float* x) {}\n"}}};
  task.reference = {"reference.cpp", "extern \"C\" void reference(const real* x) {}\n"};
  return task;
}

std::vector<Problem> lint(const model::Task& task, int cores = 4) {
  return lint_task(task, {.cores = cores, .folder = "tasks/scale"});
}

void expect_one(const model::Task& task, Severity severity, std::string_view text, int cores = 4) {
  const std::vector<Problem> problems = lint(task, cores);
  ASSERT_EQ(problems.size(), 1U) << text;
  EXPECT_EQ(problems[0].severity, severity);
  EXPECT_EQ(to_string(problems[0], "").substr(0, text.size()), text);
}

TEST(Lint, HasNothingToSayAboutASoundTask) {
  EXPECT_TRUE(lint(sound_task()).empty());
  EXPECT_TRUE(lint(sound_task(), 1).empty());
}

/// The same for the target cuda.
model::Task sound_cuda_task() {
  model::Task task = sound_task();
  task.target = "cuda";
  const std::string launch = "//@ launch scale grid=(cdiv(M, 16)) block=(16, 8) args=(x, y, M)\n";
  task.baseline = {
      model::Language("cuda"),
      {{"baseline.cu", launch + "extern \"C\" __global__ void scale(const float* x, float* y, int64_t M);\n"}}};
  task.reference = {"reference.cu",
                    launch + "extern \"C\" __global__ void scale(const real* x, real* y, int64_t M);\n"};
  return task;
}

TEST(LintOfCudaTasks, HasNothingToSayAboutASoundTask) {
  EXPECT_TRUE(lint(sound_cuda_task()).empty());
  model::Task on_the_host = sound_cuda_task();
  on_the_host.reference = sound_task().reference;
  EXPECT_TRUE(lint(on_the_host).empty());
}

TEST(LintOfCudaTasks, DirectivesAndPlansAreReadForEveryWorkload) {
  const auto with_first_line = [](const std::string& line) {
    model::Task task = sound_cuda_task();
    std::string& text = task.baseline.sources[0].text;
    text = line + text.substr(text.find('\n'));
    return task;
  };
  expect_one(with_first_line("//@ lunch scale"), Severity::error,
             "tasks/scale/baseline.cu:1: column 5: unknown directive \"//@ lunch\"");
  expect_one(with_first_line("//@ launch scale grid=(M / 32) block=(1) args=(x, y, M)"), Severity::error,
             "tasks/scale/baseline.cu:1: column 24: in workload \"hidden\": grid x = M / 32 is 0 (with M=17)");
  expect_one(with_first_line("//@ launch other grid=(1) block=(1) args=(x, y, M)"), Severity::error,
             "tasks/scale/baseline.cu:1: column 12: the source defines no kernel \"other\"");
  model::Task task = sound_cuda_task();
  task.reference.text = "extern \"C\" __global__ void scale();\n";
  expect_one(task, Severity::error, "tasks/scale/reference.cu:1: column 1: no //@ launch");
  task = sound_cuda_task();
  task.baseline.sources[0].text += "//@ tune B in {1, 2}\n";
  expect_one(task, Severity::error, "tasks/scale/baseline.cu:3: column 10: a baseline has one value a tuned name");
}

TEST(Lint, ThreadsLeaveOneCoreFree) {
  model::Task task = sound_task();
  task.cpu.threads = 3;
  EXPECT_TRUE(lint(task, 4).empty());
  task.cpu.threads = 4;
  expect_one(task, Severity::error,
             "tasks/scale/task.toml: cpu.threads: 4 is more than this machine can measure (3 of its 4");
  task.cpu.threads = 2;
  expect_one(task, Severity::error,
             "tasks/scale/task.toml: cpu.threads: 2 is more than this machine can measure (1 of its 1", 1);
}

TEST(Lint, SourcesDefineWhatTheHarnessCalls) {
  model::Task task = sound_task();
  task.baseline.sources[0].text = "// kernel\nextern \"C\" void kernle(const float* x) {}\n";
  expect_one(task, Severity::error, "tasks/scale/baseline.cpp: defines no function \"kernel\"");
  task = sound_task();
  task.reference.text = "extern \"C\" void kernel(const real* x) {}\n";
  expect_one(task, Severity::error, "tasks/scale/reference.cpp: defines no function \"reference\"");
}

TEST(Lint, WhatInitLeftOpenInTheReferenceIsAnError) {
  model::Task task = sound_task();
  const std::string whole = task.reference.text;
  task.reference.text = "// derived\n#error \"write to dists\"\n" + whole;
  expect_one(task, Severity::error, "tasks/scale/reference.cpp:2: is not complete: #error \"write to dists\"");
  task.reference.text = "// own\n#if __cplusplus < 201703L\n#error \"too old\"\n#endif\n" + whole;
  EXPECT_TRUE(lint(task).empty());
}

TEST(Lint, DirectivesOfTheBaselineAreRead) {
  model::Task task = sound_task();
  task.baseline.sources[0].text.insert(0, "\n//@ flags -fplugin=evil.so\n");
  expect_one(task, Severity::error, "tasks/scale/baseline.cpp:2: column ");
}

TEST(Lint, ABaselineLeavesNoValueOpen) {
  model::Task task = sound_task();
  const std::string text = task.baseline.sources[0].text;
  task.baseline.sources[0].text = "//@ tune WIDTH in {4}\n" + text;
  EXPECT_TRUE(lint_task(task, {.cores = 4, .folder = "tasks/scale"}).empty());
  task.baseline.sources[0].text = "//@ tune WIDTH in {4, 8}\n" + text;
  expect_one(task, Severity::error, "tasks/scale/baseline.cpp:1: column 10: a baseline has one value a tuned name");
  task.baseline.sources[0].text = "//@ tune WIDTH in {4}\n//@ require WIDTH < 4\n" + text;
  expect_one(task, Severity::error, "tasks/scale/baseline.cpp:2: column 13: no configuration is left");
}

TEST(Lint, TheEntryIsAFile) {
  const auto folder = base::TemporaryFolder::create("accelopt-lint");
  ASSERT_TRUE(folder);
  model::Task task = sound_task();
  task.entry = model::Entry{"../rms.cpp", "rms", {"x", "y", "int M"}};
  const std::filesystem::path missing = folder->path() / "task";
  const auto problems = lint_task(task, {.cores = 4, .folder = missing});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].key, "entry.file");
  EXPECT_EQ(problems[0].message.find((folder->path() / "rms.cpp").string()), 0U) << problems[0].message;
  ASSERT_TRUE(base::make_folders(missing));
  ASSERT_TRUE(base::write_file(folder->path() / "rms.cpp", "void rms();"));
  EXPECT_TRUE(lint_task(task, {.cores = 4, .folder = missing}).empty());
  EXPECT_TRUE(lint_task(task, {.cores = 4, .folder = missing / "task.toml"}).empty());
}

TEST(Lint, WorkloadsThatProveLittle) {
  model::Task task = sound_task();
  task.workloads.erase(task.workloads.begin() + 1);
  expect_one(task, Severity::advice, "tasks/scale/task.toml: workloads: none has role = \"check\"");
  task = sound_task();
  task.workloads.pop_back();
  expect_one(task, Severity::advice, "tasks/scale/task.toml: workloads: none has role = \"held_out\"");
  task = sound_task();
  task.workloads[2].axes["M"] = 64;
  expect_one(task, Severity::advice, "tasks/scale/task.toml: workloads[2].axes: the same sizes as workload \"large\"");
  task = sound_task();
  task.workloads[1].axes["M"] = 3'000'000;
  expect_one(task, Severity::advice, "tasks/scale/task.toml: workloads[1].axes: inputs and outputs take 2929 MiB");
}

TEST(Lint, AxesThatAreEqualEverywhere_AreNamed) {
  model::Task task = sound_task();
  task.definition.axes.push_back({"N", std::nullopt});
  for (model::Workload& workload : task.workloads) workload.axes["N"] = workload.axes["M"];
  expect_one(task, Severity::advice, "tasks/scale/task.toml: workloads: N and M are equal in each");
  task.workloads[1].axes["N"] += 2;
  EXPECT_TRUE(lint(task).empty());
}

TEST(Lint, InputsThatProveLittle) {
  model::Task task = sound_task();
  using model::Family;
  task.definition.inputs[0].families = {Family::rows, Family::sparse};
  expect_one(task, Severity::advice,
             "tasks/scale/task.toml: inputs[0].families: what takes those that are named takes \"late\", \"blocks\", "
             "\"signed_zeros\" as well: add them");
  task.definition.op_type = "row_max";
  task.definition.inputs[0].families = {Family::rows, Family::late, Family::blocks};
  expect_one(task, Severity::advice,
             "tasks/scale/task.toml: inputs[0].families: what takes those that are named takes \"near_ties\" as well");
  task.definition.inputs[0].families.clear();
  expect_one(task, Severity::advice, "tasks/scale/task.toml: inputs[0].families: none");
  task.definition.inputs[0].init = {model::InitKind::sorted, 0, 1};
  expect_one(task, Severity::advice,
             "tasks/scale/task.toml: inputs[0].families: none: the kernel is only checked on inputs as declared; name "
             "what the operator is defined for (scaled, coarse: what keeps the order)");
  task.definition.inputs[0].families = {Family::scaled_up, Family::rows};
  task.definition.outputs[0].dtype = model::DType::int32;
  expect_one(task, Severity::advice,
             "tasks/scale/task.toml: inputs[0].families: what takes those that are named takes \"coarse\" as well");
  task.definition.inputs[0].families.push_back(Family::coarse);
  EXPECT_TRUE(lint_task(task, {}).empty());
  task.definition.inputs[0].init = {model::InitKind::ones, 0, 1};
  expect_one(task, Severity::error, "tasks/scale/task.toml: inputs: every element of every input is fixed");
}

TEST(Lint, TrustAndCost) {
  model::Task task = sound_task();
  task.derived_reference = true;
  expect_one(task, Severity::advice, "tasks/scale/task.toml: derived_reference: the reference was derived");
  task = sound_task();
  task.definition.cost.bytes.clear();
  expect_one(task, Severity::advice, "tasks/scale/task.toml: cost: needs flops and bytes");
}

}  // namespace
}  // namespace accelopt::suites
