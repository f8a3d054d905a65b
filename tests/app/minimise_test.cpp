// SPDX-License-Identifier: Apache-2.0
#include "app/minimise.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_evaluator.hpp"

namespace accelopt::app {
namespace {

model::Solution solution(const std::string& text) {
  return {model::Language::cpp, {{"baseline.cpp", text}}};
}

/// A kernel's speed is what its first line claims; lines apart from each other are edits of their own.
constexpr const char* kBaseline = "speed=1\n//\nint a;\n//\nint b;\n//\nint c;\n";

base::Result<Minimised> minimised(const std::string& winner, fakes::FakeEvaluator& evaluator) {
  model::Task task;
  task.baseline = solution(kBaseline);
  return minimise(evaluator, task, solution(winner), [](const std::string&) {}, {});
}

TEST(Minimise, EditsWithoutAGain_AreTakenBack) {
  fakes::FakeEvaluator evaluator;
  const auto out = minimised("speed=2\n//\nint A;\n//\nint b;\n//\nint C;\n", evaluator);

  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(model::main_text(out->solution), "speed=2\n//\nint a;\n//\nint b;\n//\nint c;\n");
  EXPECT_EQ(out->edits, 3);
  EXPECT_EQ(out->taken_back, 2);
  EXPECT_EQ(out->winner.estimate, 2);
  EXPECT_EQ(out->minimised.estimate, 2);
}

TEST(Minimise, AnEditThatTheRestNeeds_Stays) {
  fakes::FakeEvaluator evaluator;
  // Without its second edit the source claims to be wrong.
  model::Task task;
  task.baseline = solution("speed=1\n//\nwrong\n");
  const auto out = minimise(evaluator, task, solution("speed=2\n//\nright\n"), [](const std::string&) {}, {});

  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->taken_back, 0);
  EXPECT_EQ(model::main_text(out->solution), "speed=2\n//\nright\n");
}

TEST(Minimise, WhatIsLeftAndDoesNotConfirm_LeavesTheWinner) {
  fakes::FakeEvaluator evaluator;
  model::Task task;
  task.baseline = solution("speed=1\n//\nunconfirmed\n");
  const auto out = minimise(evaluator, task, solution("speed=2\n//\nright\n"), [](const std::string&) {}, {});

  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->taken_back, 0);
  EXPECT_EQ(model::main_text(out->solution), "speed=2\n//\nright\n");
  EXPECT_NE(out->note.find("did not hold"), std::string::npos);
}

TEST(Minimise, APlayOffWithoutTimes_TakesNothingBack) {
  fakes::FakeEvaluator evaluator;
  evaluator.measured_playoffs = 0;
  const auto out = minimised("speed=2\n//\nint A;\n//\nint b;\n//\nint c;\n", evaluator);

  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->taken_back, 0);
}

TEST(Minimise, ABaselineThatFailsHere_IsAnError) {
  fakes::FakeEvaluator evaluator;
  evaluator.baseline_status = model::Status::incorrect_numerical;
  const auto out = minimised("speed=2\n//\nint a;\n//\nint b;\n//\nint c;\n", evaluator);

  ASSERT_FALSE(out);
  EXPECT_NE(out.error().message.find("the baseline fails here"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::app
