// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_suite.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/files.hpp"

namespace accelopt::app {
namespace {

using report::MemoryArm;
using suites::RefactorTaskKind;

suites::RefactorSuite suite() {
  suites::RefactorSuite out;
  out.name = "suite";
  out.tasks = {{"a1", "a", "c", "cc", RefactorTaskKind::slow, 2},
               {"a2", "a", "go", "go", RefactorTaskKind::slow, 2},
               {"b1", "b", "c", "cc", RefactorTaskKind::slow, 2},
               {"c1", "c", "c", "cc", RefactorTaskKind::slow, 2},
               {"c2", "c", "c", "cc", RefactorTaskKind::slow, 2}};
  return out;
}

std::vector<model::Experience> learned() {
  std::vector<model::Experience> out;
  for (const char* task : {"a1", "a2", "b1", "c1", "c2", "unknown"}) {
    model::Experience one;
    one.task = task;
    one.title = one.strategy = std::string("what ") + task + " taught";
    out.push_back(one);
  }
  return out;
}

std::set<std::string> tasks_in(const std::vector<model::Experience>& memory) {
  std::set<std::string> tasks;
  for (const model::Experience& one : memory) tasks.insert(one.task);
  return tasks;
}

TEST(MemoryOf, Cold_IsEmpty) {
  EXPECT_TRUE(memory_of(MemoryArm::cold, learned(), suite(), suite().tasks[0], 1).empty());
}

TEST(MemoryOf, Warm_LeavesTheFamilyOut) {
  const auto memory = memory_of(MemoryArm::warm, learned(), suite(), suite().tasks[0], 1);
  EXPECT_EQ(tasks_in(memory), (std::set<std::string>{"b1", "c1", "c2"}));
  for (const model::Experience& one : memory) EXPECT_EQ(one.title, "what " + one.task + " taught");
}

TEST(MemoryOf, Shuffled_IsTheSameWithOthersLessons) {
  const auto memory = memory_of(MemoryArm::shuffled, learned(), suite(), suite().tasks[0], 1);
  EXPECT_EQ(tasks_in(memory), (std::set<std::string>{"b1", "c1", "c2"}));
  std::set<std::string> lessons;
  for (const model::Experience& one : memory) {
    EXPECT_NE(one.title, "what " + one.task + " taught");
    EXPECT_EQ(one.title, one.strategy);
    lessons.insert(one.title);
  }
  EXPECT_EQ(lessons.size(), 3U);
}

TEST(PlanRefactorSuite, WhatIsNotThere_IsNamed) {
  Shell shell;
  shell.environment = [](const std::string&) { return std::nullopt; };
  const auto unknown = plan_refactor_suite(shell, {.suite = ACCELOPT_BENCHMARKS, .only = {"nothing"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, base::ErrorCode::not_found);
  EXPECT_NE(unknown.error().message.find("nothing"), std::string::npos);
  const auto none = plan_refactor_suite(shell, {.suite = ACCELOPT_BENCHMARKS, .only = {"hash-c"}});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("cc is not installed"), std::string::npos);
}

TEST(ReadRefactorResults, Files_AreReadInOrder) {
  const auto folder = *base::TemporaryFolder::create("accelopt-results-test");
  EXPECT_TRUE(read_refactor_results(folder.path())->empty());
  ASSERT_TRUE(base::make_folders(folder.path() / "results"));
  for (const char* day : {"2026-01-02", "2026-01-01"}) {
    report::ResolveLine line;
    line.settings = base::Json::object();
    line.created = day;
    ASSERT_TRUE(base::write_file(folder.path() / "results" / (std::string(day) + "-x.jsonl"), base::canonical(line)));
  }
  ASSERT_TRUE(base::write_file(folder.path() / "results" / "notes.txt", "no result"));
  const auto lines = read_refactor_results(folder.path());
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ(lines->front().created, "2026-01-01");
  ASSERT_TRUE(write_refactor_trend(folder.path()));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "trend.svg"));
}

}  // namespace
}  // namespace accelopt::app
