// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_record.hpp"

#include <gtest/gtest.h>

#include "app/readable_preference.hpp"
#include "app/refactor_story.hpp"
#include "app/run_detail.hpp"
#include "app/run_story.hpp"
#include "base/files.hpp"

namespace accelopt::app {
namespace {

model::Experience experience(std::int64_t confirmed, std::int64_t refuted) {
  model::Experience one;
  one.polarity = model::Polarity::improves;
  one.effect = model::Interval{2.0, 1.9, 2.1};
  one.credit.confirmed = confirmed;
  one.credit.refuted = refuted;
  return one;
}

TEST(WorkedBefore, NeverSettled_Yes) {
  EXPECT_TRUE(worked_before(experience(0, 0)));
}

TEST(WorkedBefore, FailedAfterItPassed_No) {
  EXPECT_FALSE(worked_before(experience(1, 1)));
  EXPECT_FALSE(worked_before(experience(0, 1)));
}

TEST(WorkedBefore, HeldMoreOftenThanItFailed_Yes) {
  EXPECT_TRUE(worked_before(experience(2, 1)));
}

TEST(WorkedBefore, NoGainShown_No) {
  model::Experience slower = experience(3, 0);
  slower.polarity = model::Polarity::regresses;
  EXPECT_FALSE(worked_before(slower));
  model::Experience unknown = experience(3, 0);
  unknown.effect.reset();
  EXPECT_FALSE(worked_before(unknown));
}

TEST(RunOfAName, ThatIsARefactoring_NamesItsReport) {
  const auto folder = base::TemporaryFolder::create("accelopt-refactor-record-test");
  ASSERT_TRUE(folder);
  report::RefactorStory story;
  story.run = "1a2b3c4d";
  story.created = "2026-01-01T00:00:00Z";
  ASSERT_TRUE(record_refactoring(folder->path(), story));
  for (const char* name : {"1a2b", "last"}) {
    const auto shown = RunDetail::read(folder->path(), name);
    const auto explained = read_run_story(folder->path(), name);
    ASSERT_FALSE(shown || explained);
    EXPECT_EQ(shown.error().message,
              "1a2b3c4d is a refactoring, which has no search to show; see: accelopt report 1a2b3c4d");
    EXPECT_EQ(explained.error().message, shown.error().message);
    EXPECT_EQ(explained.error().code, base::ErrorCode::not_found);
  }
  const auto unknown = RunDetail::read(folder->path(), "9");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message.find("refactoring"), std::string::npos);
}

RefactorReport report_of(refactor::Goal goal) {
  RefactorReport report;
  report.result.goal = goal;
  report.result.verdict = refactor::Verdict::better;
  report.result.confirmed = stats::Interval{3.1, 3.05, 3.12};
  report.result.time = stats::Interval{1.0, 0.98, 1.02};
  refactor::UnitResult unit;
  unit.unit = {.workload = "random", .size = 400, .raced = true, .timed = false, .sized = true};
  unit.old_bytes = 40 << 20;
  unit.new_bytes = 10 << 20;
  report.result.units.push_back(unit);
  return report;
}

refactor::Task task_of(refactor::Goal goal) {
  refactor::Task task;
  task.goal = goal;
  task.scope.push_back({.path = "a.py", .function = "f"});
  return task;
}

TEST(CommitMessage, OfMemory_SaysThatStartUpIsLeftOut) {
  const std::string message = commit_message(report_of(refactor::Goal::memory), task_of(refactor::Goal::memory));
  EXPECT_NE(
      message.find("\nMemory: 3.10x less [3.05, 3.12] besides start-up at random n=400 (peak 40.0 -> 10.0 MiB)\n"),
      std::string::npos)
      << message;
  // A guard that had only whole runs to look at says so.
  EXPECT_NE(message.find("\nTime: 1.00x [0.98, 1.02], a guard, with start-up\n"), std::string::npos) << message;
}

TEST(CommitMessage, OfTime_TellsTheFunctionsShare) {
  RefactorReport report = report_of(refactor::Goal::time);
  const auto message = [&] { return commit_message(report, task_of(refactor::Goal::time)); };
  EXPECT_NE(message().find("\nSpeed-Up: 3.10x [3.05, 3.12] at random n=400\n"), std::string::npos) << "not known";
  report.result.units.front().unit.call_share = 0.06;
  const std::string told = "3.10x [3.05, 3.12] at random n=400 (the function has 6 % of the driver's time)\n";
  EXPECT_NE(message().find(told), std::string::npos) << message();
  EXPECT_NE(pull_request_text(report).find("At random n=400, the function has 6 %"), std::string::npos);
  EXPECT_EQ(story_of(report).workloads.front().call_share, 0.06);
}

TEST(CommitMessage, ScopeOfSeveralFiles_NamesWhereTheChangeIs) {
  refactor::Task task = task_of(refactor::Goal::time);
  task.scope.push_back({.path = "b.py", .function = "g"});
  task.scope.push_back({.path = "c.py", .function = "h"});
  task.scope.push_back({.path = "c.py", .function = "k"});
  RefactorReport report = report_of(refactor::Goal::time);
  const auto subject_of_change_in = [&](const std::string& path) {
    report.result.diff =
        "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path + "\n@@ -1 +1 @@\n";
    const std::string message = commit_message(report, task);
    return message.substr(0, message.find('\n'));
  };
  EXPECT_EQ(subject_of_change_in("b.py"), "perf: Make g faster");
  EXPECT_EQ(subject_of_change_in("c.py"), "perf: Make c.py faster");
}

TEST(CommitMessage, OfReadability_NamesAReviewerWhoIsNotCalibrated) {
  RefactorReport report = report_of(refactor::Goal::readability);
  report.result.readability.emplace();
  report.result.readability->simpler = true;
  report.result.readability->preference = refactor::Preference::after;
  report.result.readability->reviewer = "reader (a reviewer who is not calibrated)";
  const std::string message = commit_message(report, task_of(refactor::Goal::readability));
  EXPECT_NE(message.find("\nMore-Readable: preferred in both orders by reader (a reviewer who is not calibrated)\n"),
            std::string::npos)
      << message;
}

TEST(AnswerOf, Simpler_ClaimsNoMoreThanTheGuardShows) {
  RefactorReport report = report_of(refactor::Goal::readability);
  report.task = "labels";
  report.goal = refactor::Goal::readability;
  report.result.readability.emplace();
  const std::string answer = report::answer_of(story_of(report));
  EXPECT_NE(answer.find("no size certainly over 5 % slower"), std::string::npos) << answer;
}

TEST(AnswerOf, Memory_SaysThatStartUpIsLeftOut) {
  RefactorReport report = report_of(refactor::Goal::memory);
  report.task = "readings";
  report.goal = refactor::Goal::memory;
  const std::string answer = report::answer_of(story_of(report));
  EXPECT_EQ(answer.find("readings has a peak of memory besides its start-up 3.10x"), 0U) << answer;
}

TEST(NewComments, AreNotShown) {
  const auto python = refactor::code_language("python");
  EXPECT_EQ(without_new_comments(python, "# old\na = 1\n", "# old\n# much easier to read\na = 2  # b\n"),
            "# old\na = 2  # b\n");
  const auto script = refactor::code_language("javascript");
  EXPECT_EQ(without_new_comments(script, "a = 1;\n", "// easier\n/* to\n   read */\n\na = `\n// text\n`;\n"),
            "\na = `\n// text\n`;\n");
}

}  // namespace
}  // namespace accelopt::app
