// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace accelopt::report {
namespace {

using base::Json;
using journal::StepRecord;
using std::chrono::milliseconds;

StepRecord step(const std::string& kind, int begin_ms, int end_ms, const Json& output = Json::object()) {
  return {{{}, kind}, "in", output, {}, milliseconds(begin_ms), milliseconds(end_ms - begin_ms)};
}

Json stages(double verify, double race) {
  return {{"stages", {{{"name", "verify"}, {"seconds", verify}}, {{"name", "triage"}, {"seconds", race}}}}};
}

TEST(Timeline, TellsWhereTheTimeWentAndWhatTheDeviceWaitedFor) {
  const Timeline timeline = timeline_of({
      step("estimate", 0, 0),
      step("session:1", 0, 0),
      step("open", 0, 1000, {{"baseline", stages(0.25, 0.75)}}),
      step("plan", 1000, 3000),
      step("chat:planner", 1000, 3000),
      step("execute", 3000, 5000),
      step("build:a", 5000, 6000),
      step("triage:a", 6000, 8000, stages(0.5, 1.5)),
      step("stop", 9000, 9000),
      step("confirm:a", 9000, 10000, stages(0.25, 0.75)),
  });

  EXPECT_DOUBLE_EQ(timeline.wall_seconds, 10);
  EXPECT_EQ(timeline.sessions, 1);
  EXPECT_EQ(timeline.model.count, 2);
  EXPECT_DOUBLE_EQ(timeline.model.seconds, 4);
  EXPECT_DOUBLE_EQ(timeline.verify.seconds, 1);
  EXPECT_DOUBLE_EQ(timeline.measure.seconds, 3);
  EXPECT_DOUBLE_EQ(timeline.busy_seconds, 4);
  EXPECT_DOUBLE_EQ(timeline.utilisation(), 0.4);
  EXPECT_DOUBLE_EQ(timeline.idle_seconds, 6);
  EXPECT_DOUBLE_EQ(timeline.idle_for_models_seconds, 4);
  EXPECT_DOUBLE_EQ(timeline.idle_for_builds_seconds, 1);
  EXPECT_DOUBLE_EQ(timeline.idle_for_nothing_seconds, 1);
}

TEST(Timeline, ARequestThatWaitsForTheDeviceDoesNotUseIt) {
  // Three races that were asked for together and served one by one, by the order of their ends.
  const Timeline timeline =
      timeline_of({step("triage:a", 0, 1000, stages(0.5, 0.5)), step("triage:b", 0, 2000, stages(0.5, 0.5)),
                   step("triage:c", 100, 3000, stages(0.5, 0.5))});

  EXPECT_DOUBLE_EQ(timeline.wall_seconds, 3);
  EXPECT_DOUBLE_EQ(timeline.busy_seconds, 3);
  EXPECT_DOUBLE_EQ(timeline.verify.seconds, 1.5);
  EXPECT_DOUBLE_EQ(timeline.measure.seconds, 1.5);
  EXPECT_DOUBLE_EQ(timeline.idle_seconds, 0);
}

TEST(Timeline, OverlappingQuestionsAreCoveredOnce) {
  const Timeline timeline = timeline_of(
      {step("plans", 0, 2000), step("summarize_all", 0, 3000), step("execute", 5000, 6000), step("fix", 5500, 7000)});

  EXPECT_DOUBLE_EQ(timeline.model.seconds, 7.5);
  EXPECT_DOUBLE_EQ(timeline.model.covered_seconds, 5);
  EXPECT_DOUBLE_EQ(timeline.idle_for_models_seconds, 5);
  EXPECT_DOUBLE_EQ(timeline.idle_for_nothing_seconds, 2);
}

TEST(Timeline, SessionsStandOneAfterTheOther) {
  const Timeline timeline = timeline_of({step("session:1", 0, 0), step("plan", 0, 1000), step("session:2", 0, 0),
                                         step("execute", 500, 1500), step("session:3", 0, 0)});

  EXPECT_EQ(timeline.sessions, 3);
  EXPECT_DOUBLE_EQ(timeline.wall_seconds, 2.5);
  EXPECT_DOUBLE_EQ(timeline.model.covered_seconds, 2);
  EXPECT_DOUBLE_EQ(timeline.idle_for_nothing_seconds, 0.5);
}

TEST(Timeline, AnOlderJournalBeginsASessionWhereItsClockBeginsAnew) {
  const Timeline timeline = timeline_of({step("plan", 0, 4000), step("plan", 0, 4100), step("execute", 0, 1000)});

  EXPECT_EQ(timeline.sessions, 2);
  EXPECT_DOUBLE_EQ(timeline.wall_seconds, 5.1);
}

TEST(Timeline, ARunWithoutStepsHasNone) {
  const Timeline timeline = timeline_of({});

  EXPECT_EQ(timeline.wall_seconds, 0);
  EXPECT_EQ(timeline.utilisation(), 0);
  EXPECT_EQ(to_text(timeline), "no step of this run took any time\n");
}

TEST(Timeline, IsDrawnARowForEachKindOfWork) {
  const Timeline timeline = timeline_of(
      {step("plan", 0, 36'000), step("build:a", 36'000, 54'000), step("triage:a", 54'000, 72'000, stages(0, 18))});

  const std::string text = to_text(timeline);

  EXPECT_NE(text.find("device   used 25 % of the time"), std::string::npos) << text;
  EXPECT_NE(text.find("waiting for models 36.0 s, for builds 18.0 s, for neither 0.00 s"), std::string::npos) << text;
  EXPECT_NE(text.find("  model    " + std::string(36, '#') + std::string(36, ' ') + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  build    " + std::string(36, ' ') + std::string(18, '#')), std::string::npos) << text;
  EXPECT_NE(text.find("  measure  " + std::string(54, ' ') + std::string(18, '#')), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Timeline, JsonHasTheDocumentedFields) {
  const Json out = to_json(timeline_of({step("plan", 0, 1000), step("triage:a", 1000, 2000, stages(0.5, 0.5))}));

  for (const char* key : {"type", "schema", "wall_seconds", "sessions", "model", "build", "verify", "measure",
                          "utilisation", "busy_seconds", "idle_seconds", "idle_for_models_seconds",
                          "idle_for_builds_seconds", "idle_for_nothing_seconds"})
    EXPECT_TRUE(out.contains(key)) << key;
  EXPECT_DOUBLE_EQ(out["utilisation"].get<double>(), 0.5);
  EXPECT_EQ(out["model"]["count"], 1);
}

}  // namespace
}  // namespace accelopt::report
