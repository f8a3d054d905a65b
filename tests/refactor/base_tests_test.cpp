// SPDX-License-Identifier: Apache-2.0
#include "refactor/base_tests.hpp"

#include <gtest/gtest.h>

namespace accelopt::refactor {
namespace {

using Texts = std::vector<std::string>;

constexpr auto kPassed = TestOutcome::passed;
constexpr auto kFailed = TestOutcome::failed;

TestRun test_run(TestOutcomes outcomes, std::string end) {
  return {.outcomes = std::move(outcomes), .end = std::move(end), .said = "words"};
}

BaseTests three_times(const TestRun& run) {
  return BaseTests({run, run, run});
}

TEST(BaseTests, RunAsOnTheBase_HasNoProblems) {
  const TestRun run = test_run({{"a", kPassed}, {"b", kFailed}}, "exit 1");
  const BaseTests tests = three_times(run);
  EXPECT_EQ(tests.count(), 1);
  EXPECT_EQ(tests.not_passing(), Texts{"b (fails)"});
  EXPECT_EQ(tests.problems(run), Texts());
  EXPECT_EQ(tests.problems(test_run({{"a", kPassed}, {"b", kPassed}}, "exit 0")), Texts());
}

TEST(BaseTests, AnotherEndThanOnTheBase_IsAProblem) {
  const BaseTests passes = three_times(test_run({{"a", kPassed}}, "exit 0"));
  EXPECT_EQ(passes.problems(test_run({{"a", kPassed}}, "exit 1")),
            (Texts{"the test command ended by exit 1, and by exit 0 on the base", "exit 1: words"}));
  const BaseTests fails = three_times(test_run({{"a", kPassed}, {"b", kFailed}}, "exit 1"));
  for (const char* end : {"exit 2", "signal 11", "over 60 s"})
    EXPECT_EQ(fails.problems(test_run({{"a", kPassed}, {"b", kFailed}}, end)).size(), 2U) << end;
}

TEST(BaseTests, FailureOfWhatIsSetAside_ExplainsAnExitCode) {
  const TestRun passes = test_run({{"a", kPassed}, {"b", kPassed}, {"c", kFailed}}, "exit 1");
  const TestRun fails = test_run({{"a", kPassed}, {"b", kFailed}, {"c", kFailed}}, "exit 2");
  const BaseTests flaky({passes, test_run({{"a", kPassed}, {"c", kFailed}}, "exit 1"), passes});
  EXPECT_EQ(flaky.flaky(), Texts{"b"});
  EXPECT_EQ(flaky.problems(fails), Texts());
  EXPECT_EQ(flaky.problems(test_run(fails.outcomes, "signal 6")).size(), 2U);
  BaseTests tests = three_times(passes);
  EXPECT_EQ(tests.problems(fails), (Texts{"1 tests that passed on the base fail: b", "exit 2: words"}));
  tests.set_aside(tests.wrong_in(fails), fails, fails);
  EXPECT_EQ(tests.problems(fails), Texts());
  EXPECT_EQ(tests.count(), 1);
}

TEST(BaseTests, ExitCodeOfAFlakyFailure_IsNoEndOfTheBase) {
  const TestRun right = test_run({{"a", kPassed}, {"b", kPassed}}, "exit 0");
  const TestRun flaky = test_run({{"a", kPassed}, {"b", kFailed}}, "exit 1");
  const TestRun leaks = test_run(right.outcomes, "exit 1");
  const BaseTests tests({right, flaky, right});
  EXPECT_EQ(tests.problems(flaky), Texts());
  EXPECT_EQ(tests.problems(leaks),
            (Texts{"the test command ended by exit 1, and by exit 0 on the base", "exit 1: words"}));
  // In each of these runs, another test fails.
  const BaseTests always({flaky, test_run({{"a", kPassed}, {"b", kPassed}, {"c", kFailed}}, "exit 1"), flaky});
  TestRun run = flaky;
  always.excuse(run, right);
  EXPECT_EQ(run.end, "exit 1");
  EXPECT_EQ(always.problems(run), Texts());
}

TEST(BaseTests, FailureThatTheBaseHasNot_IsAProblem) {
  BaseTests tests = three_times(test_run({{"p::A", kPassed}}, "exit 0"));
  const TestRun leaks = test_run({{"p::A", kPassed}, {"package p", kFailed}}, "exit 1");
  EXPECT_EQ(tests.problems(leaks), (Texts{"1 tests that the base has not fail: package p", "exit 1: words"}));
  tests.set_aside(tests.wrong_in(leaks), leaks, leaks);
  EXPECT_EQ(tests.problems(leaks), Texts()) << "the base leaks now as well";
}

TEST(BaseTests, WhatIsRightInALaterRun_IsExcused) {
  const TestRun right = test_run({{"a", kPassed}, {"b", kPassed}}, "exit 0");
  const BaseTests tests = three_times(right);
  const TestRun wrong = test_run({{"a", kPassed}, {"b", kFailed}, {"the plan", kFailed}}, "exit 1");
  TestRun run = wrong;
  tests.excuse(run, right);
  EXPECT_EQ(tests.problems(run), Texts());
  run = wrong;
  tests.excuse(run, test_run(right.outcomes, "signal 11"));
  EXPECT_EQ(tests.problems(run).size(), 2U) << "the tests pass, and then it crashes";
}

TEST(BaseTests, ReportThatIsNotWhole_IsRefused) {
  JailedResult process;
  process.output = std::string(2UL << 20, 'x');
  EXPECT_EQ(unread_report(TestFormat::tap, process), "");
  process.output_dropped = true;
  const std::string unread =
      "more than 2 MiB were written to standard output, where the report is; let the tests write less";
  EXPECT_EQ(unread_report(TestFormat::tap, process), unread);
  EXPECT_EQ(unread_report(TestFormat::go_json, process), unread);
  EXPECT_EQ(unread_report(TestFormat::unittest, process), "");
  EXPECT_EQ(unread_report(TestFormat::exit, process), "");
  process.errors_dropped = true;
  EXPECT_NE(unread_report(TestFormat::unittest, process), "");
  TestRun run = test_run({}, "exit 0");
  run.unread = unread;
  EXPECT_EQ(three_times(test_run({{"a", kPassed}}, "exit 0")).problems(run), Texts{unread});
}

}  // namespace
}  // namespace accelopt::refactor
