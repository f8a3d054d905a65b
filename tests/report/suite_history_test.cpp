// SPDX-License-Identifier: Apache-2.0
#include "report/suite_history.hpp"

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

using base::Json;

SuiteTask done(const std::string& task, double speedup, int recalled, int evaluations, double seconds,
               std::optional<double> usd = 0.5) {
  SuiteTask it{.task = task, .run = "r", .state = "done", .outcome = speedup > 1 ? "improved" : "no_gain"};
  if (speedup > 1) {
    it.speedup = model::Interval{speedup, speedup * 0.9, speedup * 1.1};
    it.convergence = {recalled, evaluations, seconds};
  }
  it.convergence.recalled = recalled;
  it.evaluations = 20;
  it.wall_seconds = 60;
  it.usd = usd;
  return it;
}

SuiteHistoryEntry entry(const std::string& created, const std::string& state, std::vector<SuiteTask> begun) {
  return {.id = created,
          .suite = "/suites/small",
          .created = created,
          .state = state,
          .tasks = {"one", "two", "three"},
          .begun = std::move(begun)};
}

std::vector<SuiteHistoryEntry> two_runs() {
  return {entry("monday", "done", {done("one", 4, 0, 16, 80), done("two", 9, 0, 10, 50), done("three", 1, 0, 0, 0)}),
          entry("tuesday", "cut short", {done("one", 4, 3, 4, 20)})};
}

TEST(SuiteHistory, FiguresAreGeometricMeansAndATaskWithoutAGainCountsAsOne) {
  const SuiteFigures figures = figures_of(two_runs()[0].begun);

  EXPECT_EQ(figures.runs, 3);
  EXPECT_NEAR(*figures.speedup, std::cbrt(36.0), 1e-12);
  EXPECT_NEAR(*figures.evaluations, std::sqrt(160.0), 1e-12);
  EXPECT_NEAR(*figures.seconds, std::sqrt(4000.0), 1e-9);
  EXPECT_DOUBLE_EQ(*figures.usd, 0.5);
}

TEST(SuiteHistory, WhatDidNotFinishCountsForNothing) {
  SuiteTask interrupted = done("one", 4, 0, 16, 80);
  interrupted.state = "interrupted";
  const SuiteFigures figures = figures_of({interrupted, {.task = "two", .error = "no such file"}});

  EXPECT_EQ(figures.runs, 0);
  EXPECT_EQ(figures.speedup, std::nullopt);
  EXPECT_EQ(figures.usd, std::nullopt);
}

TEST(SuiteHistory, AnUnknownCostMakesTheMeanUnknown) {
  EXPECT_EQ(figures_of({done("one", 4, 0, 1, 1, std::nullopt), done("one", 4, 0, 1, 1)}).usd, std::nullopt);
}

TEST(SuiteHistory, ColdAndWarmAreComparedOverTasksThatHaveBoth) {
  const auto rows = cold_and_warm(two_runs());

  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].task, "one");
  EXPECT_EQ(rows[0].cold.runs, 1);
  EXPECT_DOUBLE_EQ(*rows[0].warm.evaluations, 4);
  EXPECT_EQ(rows[1].warm.runs, 0);
  EXPECT_EQ(rows[3].task, "");
  EXPECT_NEAR(*rows[3].cold.evaluations, 16, 1e-9) << "task one alone";
  EXPECT_NEAR(*rows[3].warm.seconds, 20, 1e-9);
}

TEST(SuiteHistory, NoTaskWithBothMakesNoComparison) {
  EXPECT_EQ(cold_and_warm({two_runs()[0]}).size(), 3U);
}

TEST(SuiteHistory, TheTextTellsSuiteRunsTasksAndTheComparison) {
  const std::string text = to_text(two_runs());

  EXPECT_NE(text.find("monday   small  done       3 of 3"), std::string::npos) << text;
  EXPECT_NE(text.find("tuesday  small  cut short  1 of 3"), std::string::npos) << text;
  EXPECT_NE(text.find("warm (3)"), std::string::npos) << text;
  EXPECT_NE(text.find("16 of 20"), std::string::npos) << text;
  EXPECT_NE(text.find("- of 20"), std::string::npos) << text;
  EXPECT_NE(text.find("tasks with both  1 / 1"), std::string::npos) << text;
}

TEST(SuiteHistory, HostileNamesCannotWriteOnTheTerminal) {
  auto history = two_runs();
  history[0].begun[0].error = "\033[2J";
  history[0].begun[1].task = "a\nb";
  history[0].suite = "/s\033[1m";
  const std::string text = to_text(history);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find("a\nb"), std::string::npos);
}

TEST(SuiteHistory, JsonHasALineASuiteRunAndTheComparisonLast) {
  const auto lines = to_json_lines(two_runs());

  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["type"], "suite_run");
  EXPECT_EQ(lines[1]["state"], "cut short");
  EXPECT_EQ(lines[1]["finished"], 1);
  EXPECT_EQ(lines[1]["warm"], 1);
  EXPECT_EQ(lines[1]["runs"][0]["memory"], "warm");
  EXPECT_EQ(lines[1]["runs"][0]["evaluations_to_95"], 4);
  EXPECT_EQ(lines[0]["runs"][2]["evaluations_to_95"], Json());
  EXPECT_EQ(lines[0]["usd"], 1.5);
  EXPECT_EQ(lines[2]["type"], "history");
  EXPECT_EQ(lines[2]["tasks"][0]["task"], "one");
  EXPECT_NEAR(lines[2]["tasks_with_both"]["warm"]["speedup"].get<double>(), 4, 1e-9);
  EXPECT_EQ(to_json_lines({}).back()["suite_runs"], 0);
}

}  // namespace
}  // namespace accelopt::report
