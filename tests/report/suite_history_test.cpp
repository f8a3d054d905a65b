// SPDX-License-Identifier: Apache-2.0
#include "report/suite_history.hpp"

#include <functional>
#include <initializer_list>

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

Json settings_of(int iterations, const std::string& recall = "ranked") {
  return {{"agents", {{"planner", "recipes"}, {"executor", "recipes"}}},
          {"iterations", iterations},
          {"beam", 3},
          {"recall", recall},
          {"memory_capacity", 16},
          {"max_tokens", nullptr},
          {"device", "cpu:1"}};
}

SuiteHistoryEntry entry(const std::string& created, const std::string& state, std::vector<SuiteTask> begun) {
  return {.id = created,
          .suite = "/suites/small",
          .created = created,
          .state = state,
          .settings = settings_of(6),
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

/// Cold on monday and warm on tuesday, but for what is changed.
std::vector<SuiteHistoryEntry> two_runs_but(const std::function<void(SuiteHistoryEntry&)>& change) {
  auto history = two_runs();
  change(history[1]);
  return history;
}

TEST(SuiteHistory, OnlyWhatIsAlikeIsCompared) {
  ASSERT_EQ(alike_runs(two_runs()).size(), 1U);
  const auto changes = std::initializer_list<std::function<void(SuiteHistoryEntry&)>>{
      [](SuiteHistoryEntry& it) { it.settings["iterations"] = 1; },
      [](SuiteHistoryEntry& it) { it.settings["agents"]["planner"] = "m"; },
      [](SuiteHistoryEntry& it) { it.settings["max_tokens"] = 5; },
      [](SuiteHistoryEntry& it) { it.settings["device"] = "cpu:2"; },
      [](SuiteHistoryEntry& it) { it.suite = "/suites/large"; },
      [](SuiteHistoryEntry& it) { it.program_version = "9"; },
      [](SuiteHistoryEntry& it) { it.begun[0].device = "another processor"; }};
  for (const auto& change : changes) {
    const auto history = two_runs_but(change);
    const auto groups = alike_runs(history);
    ASSERT_EQ(groups.size(), 2U) << to_text(history);
    EXPECT_EQ(groups[0].rows.size(), 3U) << "without a row over tasks that have both";
    EXPECT_EQ(groups[1].rows[0].cold.runs, 0);
    EXPECT_EQ(groups[1].rows[0].warm.runs, 1);
    EXPECT_EQ(groups[1].suite_runs, std::vector<std::string>{"tuesday"});
    const Json last = to_json_lines(history).back();
    EXPECT_EQ(last["alike"].size(), 2U);
    EXPECT_TRUE(last["tasks"].empty() && last["tasks_with_both"].is_null()) << "nothing is compared over both";
    EXPECT_EQ(to_text(history).find("tasks with both"), std::string::npos);
  }
}

TEST(SuiteHistory, WhatWasRecalledIsWhatColdAndWarmDifferIn) {
  const auto groups = alike_runs(two_runs_but([](SuiteHistoryEntry& it) { it.settings = settings_of(6, "queue"); }));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].rows.back().task, "") << "a row over tasks that have both";
  EXPECT_FALSE(groups[0].settings.contains("recall"));
}

TEST(SuiteHistory, UnknownSettingsStandApart) {
  const auto history = two_runs_but([](SuiteHistoryEntry& it) { it.settings = Json(); });
  const auto groups = alike_runs(history);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].suite_runs, std::vector<std::string>{"monday"});
  const std::string text = to_text(history);
  EXPECT_NE(text.find("tuesday  small  unknown   cut short"), std::string::npos) << text;
  EXPECT_NE(text.find("settings unknown: one suite run by an older accelopt"), std::string::npos) << text;
  const auto lines = to_json_lines(history);
  EXPECT_TRUE(lines[1]["settings"].is_null());
  EXPECT_TRUE(lines[2]["tasks"].empty()) << "what is unknown is compared with nothing";
  EXPECT_EQ(lines[2]["alike"].size(), 1U);
}

TEST(SuiteHistory, TheTextTellsTheSettingsAndWhatTheyDifferIn) {
  const std::string alike = to_text(two_runs());
  EXPECT_NE(alike.find("settings 1: recipes; iterations 6, beam 3; cpu:1; accelopt "), std::string::npos) << alike;
  EXPECT_EQ(alike.find("memory capacity"), std::string::npos) << "the same in all";
  const std::string text = to_text(two_runs_but([](SuiteHistoryEntry& it) {
    it.settings["memory_capacity"] = 0;
    it.settings["max_tokens"] = 500;
    it.settings["agents"]["planner"] = "m\033[2J";
  }));
  EXPECT_NE(text.find("settings 1: recipes; iterations 6, beam 3, max tokens none, memory capacity 16;"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("iterations 6, beam 3, max tokens 500, memory capacity 0;"), std::string::npos) << text;
  EXPECT_NE(text.find("executor: recipes, planner: m"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(SuiteHistory, TheTextTellsSuiteRunsTasksAndTheComparison) {
  const std::string text = to_text(two_runs());

  EXPECT_NE(text.find("monday   small  1         done       3 of 3"), std::string::npos) << text;
  EXPECT_NE(text.find("tuesday  small  1         cut short  1 of 3"), std::string::npos) << text;
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
  EXPECT_EQ(lines[0]["settings"], settings_of(6));
  EXPECT_EQ(lines[2]["alike"][0]["tasks"], lines[2]["tasks"]);
  EXPECT_EQ(lines[2]["alike"][0]["suite_runs"], Json::array({"monday", "tuesday"}));
  EXPECT_EQ(lines[2]["tasks"][0]["task"], "one");
  EXPECT_NEAR(lines[2]["tasks_with_both"]["warm"]["speedup"].get<double>(), 4, 1e-9);
  EXPECT_EQ(to_json_lines({}).back()["suite_runs"], 0);
}

}  // namespace
}  // namespace accelopt::report
