// SPDX-License-Identifier: Apache-2.0
#include "app/command_arm.hpp"

#include <gtest/gtest.h>

#include "app/environment.hpp"

namespace accelopt::app {
namespace {

class CommandArms : public testing::Test {
 protected:
  CommandArms() {
    task_.workloads = {{.name = "small", .axes = {{"M", 3}}, .role = model::Role::check},
                       {.name = "rows_64", .axes = {{"M", 64}}, .role = model::Role::race}};
    kernel_.workloads.resize(1);
    kernel_.workloads[0].name = "rows_64";
    kernel_.workloads[0].time_ns = 50;
  }
  TimedCommand timed(const std::string& command) {
    auto result = time_command(shell_, {"theirs", command}, task_);
    if (!result) ADD_FAILURE() << result.error().message;
    return result.value_or(TimedCommand());
  }

  model::Task task_;
  model::Evaluation kernel_;
  Shell shell_{"accelopt", {}, environment_of({{"PATH", "/usr/bin:/bin"}}), [](const std::string&) {}};
};

TEST(CommandArm, OnlyAMarkedOne_IsACommand) {
  const auto arm = command_arm("blas=!./blas --n 3 a=!b");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->name, "blas");
  EXPECT_EQ(arm->command, "./blas --n 3 a=!b");
  for (const char* text : {"blas=file.cpp", "=!x", "blas=!", "blas", "a=b=!c"}) EXPECT_FALSE(command_arm(text)) << text;
}

TEST_F(CommandArms, ItsTimes_AreComparedOnRacedWorkloads) {
  const TimedCommand result =
      timed("test $ACCELOPT_WORKLOAD = rows_64 && for i in 1 2 3 4 5; do echo $((ACCELOPT_AXIS_M * 100 / 64)); done");
  EXPECT_EQ(result.failure, "");
  ASSERT_EQ(result.workloads.size(), 1U);
  EXPECT_EQ(result.workloads[0].samples, 5U);
  EXPECT_NEAR(result.workloads[0].time_ns.estimate, 100, 1e-9);
  EXPECT_NEAR(speed_over(kernel_, result.workloads[0])->estimate, 2, 1e-9);
  const base::Json out = to_json(kernel_, result);
  EXPECT_EQ(out.at("timed_by"), kOwnClock);
  EXPECT_NEAR(out.at("workloads")[0].at("speed_over").at("low").get<double>(), 2, 1e-9);
}

TEST_F(CommandArms, WhatScatters_HasAnInterval) {
  const auto& time = timed("printf '90\\n95\\n100\\n105\\n110\\n'").workloads.at(0).time_ns;
  EXPECT_LT(time.low, 98);
  EXPECT_GT(time.high, 102);
}

TEST_F(CommandArms, Milliseconds_HaveAnIntervalAroundThem) {
  const auto& time =
      timed("printf '1010000\\n1000000\\n990000\\n1005000\\n995000\\n1002000\\n'").workloads.at(0).time_ns;
  EXPECT_NEAR(time.estimate, 1e6, 5e3);
  EXPECT_GT(time.low, 0.97e6);
  EXPECT_LT(time.low, time.estimate);
  EXPECT_GT(time.high, time.estimate);
  EXPECT_LT(time.high, 1.03e6);
}

TEST_F(CommandArms, WhatItGetsWrong_IsSaid) {
  EXPECT_EQ(timed("echo no such library; exit 3").failure, "rows_64: it ended with status 3: no such library?");
  for (const char* command : {"printf '1\\n2\\n3\\n4\\n'", "printf '1\\n2\\n3\\n4\\nfast\\n'",
                              "printf '1\\n2\\n3\\n4\\n-5\\n'", "printf '1\\n2\\n3\\n4\\n1e300\\n'", "true"})
    EXPECT_NE(timed(command).failure.find("five or more times"), std::string::npos) << command;
}

TEST_F(CommandArms, WithoutTheKernelsTime_ThereIsNoRatio) {
  const TimedCommand result = timed("printf '1\\n2\\n3\\n4\\n5\\n'");
  EXPECT_FALSE(speed_over(model::Evaluation(), result.workloads.at(0)));
}

}  // namespace
}  // namespace accelopt::app
