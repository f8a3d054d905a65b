// SPDX-License-Identifier: Apache-2.0
// A verdict outside of a run, through a real worker whose measurements are made up (tests/fakes/fake_worker.cpp).
#include "app/evaluate.hpp"

#include <gtest/gtest.h>

#include "app/environment.hpp"
#include "base/files.hpp"

namespace accelopt::app {
namespace {

model::Solution source(const std::string& text) {
  return {model::Language::cpp, {{"kernel.cpp", text}}};
}

class Evaluate : public testing::Test {
 protected:
  base::Result<model::Evaluation> judge(std::optional<model::Solution> kernel, const std::string& baseline = "",
                                        bool confirm = false) {
    task_.baseline = source(baseline);
    DeviceFlags device;
    device.workers = {{ACCELOPT_FAKE_WORKER}};
    return evaluate(shell_,
                    {.task = task_, .kernel = std::move(kernel), .device = device, .seed = 1, .confirm = confirm},
                    {.begin = [this](const std::string& step) { steps_.push_back(step); }});
  }

  model::Task task_;
  std::vector<std::string> steps_;
  Shell shell_{"accelopt", {}, environment_of(), [](const std::string&) {}};
};

TEST_F(Evaluate, FasterKernel_IsFasterAndEveryStepIsTold) {
  const auto verdict = judge(source("speed=2"));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->verdict, model::Verdict::faster);
  EXPECT_EQ(verdict->kind, model::EvaluationKind::triage);
  ASSERT_GE(steps_.size(), 3U);
  EXPECT_EQ(steps_[0], "drawing inputs, verifying and measuring the baseline");
  EXPECT_EQ(steps_[1], "building the kernel");
}

TEST_F(Evaluate, Confirm_EndsInAConfirmation) {
  const auto verdict = judge(source("speed=2"), "", true);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->kind, model::EvaluationKind::confirm);
}

TEST_F(Evaluate, KernelThatDoesNotBuild_IsAVerdict) {
  const auto verdict = judge(source("compile_error"));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->status, model::Status::compile_error);
}

TEST_F(Evaluate, Output_HasNoSamples) {
  const auto verdict = judge(source("speed=2"));
  ASSERT_TRUE(verdict) << verdict.error().message;
  task_.definition.name = "scale";
  const base::Json out = to_json(task_, *verdict);
  EXPECT_FALSE(out.contains("samples"));
  EXPECT_EQ(out.at("type"), "evaluation");
  EXPECT_EQ(out.at("task"), "scale");
}

TEST(SameCode, IsSaidOfEqualMachineCodeAlone) {
  model::Evaluation one;
  model::Evaluation other;
  EXPECT_FALSE(same_code(one, other)) << "neither was built";
  one.machine_code_id = "a";
  other.machine_code_id = "b";
  EXPECT_FALSE(same_code(one, other));
  other.machine_code_id = "a";
  EXPECT_TRUE(same_code(one, other));
}

TEST(ReadKernel, LanguageIsTheNames) {
  const auto folder = base::TemporaryFolder::create("kernel").value();
  ASSERT_TRUE(base::write_file(folder.path() / "faster.c", "int x;"));
  const auto kernel = read_kernel(folder.path() / "faster.c", model::Task());
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->language, model::Language::c);
  EXPECT_EQ(kernel->sources.at(0).name, "faster.c");
  EXPECT_FALSE(read_kernel(folder.path() / "absent.c", model::Task()));
}

}  // namespace
}  // namespace accelopt::app
