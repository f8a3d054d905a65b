// SPDX-License-Identifier: Apache-2.0
#include "report/html/suite_page.hpp"

#include <gtest/gtest.h>

namespace accelopt::report::html {
namespace {

SuiteTask task(const std::string& name, double speedup, int recalled) {
  SuiteTask made{.task = name, .run = "run", .state = "done", .outcome = "improved", .device = "a device"};
  made.speedup = model::Interval{speedup, speedup - 0.1, speedup + 0.1};
  made.convergence.recalled = recalled;
  return made;
}

SuiteHistoryEntry entry(const std::string& id, double speedup, int recalled) {
  return {.id = id,
          .suite = "/home/somebody/suites/small",
          .created = "2026-01-01T00:00:00Z",
          .state = "done",
          .settings = {{"beam", 3}, {"device", "--worker ssh secret-host"}},
          .tasks = {"one"},
          .begun = {task("one", speedup, recalled)}};
}

TEST(SuitePage, SuiteRunsThatAreAlike_StandInOnePlot) {
  const std::string page = suite_page({entry("a", 2, 0), entry("b", 3, 5)});

  EXPECT_NE(page.find("id=\"over-time-1\""), std::string::npos);
  EXPECT_EQ(page.find("id=\"over-time-2\""), std::string::npos);
  EXPECT_NE(page.find("made its 1 finished tasks 3.00x as fast"), std::string::npos);
  EXPECT_NE(page.find("2.00x / 3.00x"), std::string::npos) << "cold / warm";
}

TEST(SuitePage, OtherSettings_AreASetOfTheirOwn) {
  SuiteHistoryEntry other = entry("b", 3, 0);
  other.settings["beam"] = 4;
  EXPECT_NE(suite_page({entry("a", 2, 0), other}).find("id=\"over-time-2\""), std::string::npos);
}

TEST(SuitePage, FoldersAndPlacesOfTheMaker_AreLeftOut) {
  const std::string page = suite_page({entry("a", 2, 0)});
  EXPECT_EQ(page.find("somebody"), std::string::npos);
  EXPECT_EQ(page.find("secret-host"), std::string::npos);
  EXPECT_NE(page.find("small"), std::string::npos);
}

TEST(SuitePage, TextOfOthers_StaysText) {
  SuiteHistoryEntry hostile = entry("a", 2, 0);
  hostile.begun.push_back({.task = "<script>alert(1)</script>", .error = "<img src=x>"});
  const std::string page = suite_page({hostile});
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
}

TEST(SuitePage, WithoutASuiteRun_SaysSo) {
  EXPECT_NE(suite_page({}).find("no suite run on record"), std::string::npos);
  SuiteHistoryEntry unfinished = entry("a", 2, 0);
  unfinished.begun = {{.task = "one", .error = "no device"}};
  EXPECT_NE(suite_page({unfinished}).find("has no finished task"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::report::html
