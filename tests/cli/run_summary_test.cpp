// SPDX-License-Identifier: Apache-2.0
#include "cli/run_summary.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "model/usage.hpp"

namespace accelopt::cli {
namespace {

search::RunResult improved_run() {
  search::RunResult result;
  result.run = "20260101-aa";
  result.task = "matmul";
  result.outcome = search::RunOutcome::improved;
  result.stopped_by = model::EndReason::iterations;
  result.solution = model::Solution();
  result.solution->sources = {{"kernel.cpp", "int faster;\n"}};
  result.confirmation = model::Evaluation();
  result.confirmation->ratio = model::Interval{2, 1.9, 2.1};
  result.confirmation->workloads = {
      {"rows", model::Role::race, 1.255e7, 2.51e7, model::Interval{2, 1.9, 2.1}, std::nullopt}};
  result.counts = {{"PASSED", 30}, {"NOT_MEASURED", 6}, {"NO_ANSWER", 4}, {"PROFILE_FAILED", 1}};
  result.known = 11;
  result.evaluations = 34;
  result.iterations = 4;
  return result;
}

model::Task task_with(std::string baseline) {
  model::Task task;
  task.baseline.sources = {{"baseline.cpp", std::move(baseline)}};
  return task;
}

TEST(RunSummary, CountsAddUpToTheAttempts) {
  EXPECT_EQ(
      attempts_text(improved_run()),
      "40 attempts: 6 NOT_MEASURED, 4 NO_ANSWER, 30 PASSED; 11 led to a known program; failed later: 1 PROFILE_FAILED");
  EXPECT_EQ(attempts_text(search::RunResult()), "0 attempts");
}

TEST(RunSummary, EvaluationsAreNotCalledCandidates) {
  const std::string text = describe(improved_run());
  EXPECT_NE(text.find("34 evaluations in 4 iterations"), std::string::npos) << text;
  EXPECT_EQ(text.find("candidates"), std::string::npos) << text;
  EXPECT_NE(text.find("12.6 ms"), std::string::npos) << text;
}

TEST(RunSummary, ALongChangeIsCutAndSaysWhereTheRestIs) {
  std::string baseline;
  for (int i = 0; i < 50; ++i) baseline += "int slow" + std::to_string(i) + ";\n";
  const std::string text = describe_winner(improved_run(), task_with(baseline), "/runs/.accelopt");
  EXPECT_NE(text.find("--- a/baseline.cpp\n+++ b/baseline.cpp\n"), std::string::npos) << text;
  EXPECT_NE(text.find("... 48 more lines: accelopt diff 20260101-aa\n"), std::string::npos) << text;
  EXPECT_NE(text.find("The winner is kept in /runs/.accelopt. Next: accelopt best 20260101-aa -o faster\n"),
            std::string::npos)
      << text;
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 14) << text;
}

TEST(RunSummary, AKernelOfTheUsersIsPatchedNext) {
  model::Task task = task_with("int slow;\n");
  task.entry = model::Entry();
  EXPECT_NE(describe_winner(improved_run(), task, "w").find(" && git apply faster/winner.patch\n"), std::string::npos);
}

TEST(RunSummary, WithoutAWinnerNothingIsShownOfIt) {
  search::RunResult result = improved_run();
  result.outcome = search::RunOutcome::no_gain;
  EXPECT_EQ(describe_winner(result, task_with("int slow;\n"), "w"), "");
}

}  // namespace
}  // namespace accelopt::cli
