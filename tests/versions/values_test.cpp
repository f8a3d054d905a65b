// SPDX-License-Identifier: Apache-2.0
// Values as they stand in journals, bundles, the worker protocol and `--json`: written as before, and read as before.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "evaluation/evaluator_json.hpp"
#include "report/event_json.hpp"
#include "versions/fixtures.hpp"
#include "versions/samples.hpp"
#include "worker/protocol.hpp"

namespace accelopt::versions {
namespace {

using base::canonical;
using base::Json;

/// The value is written as the fixture says, and what the fixture says is read without loss.
template <class T>
void expect_value(const std::string& name, const T& value) {
  SCOPED_TRACE(name);
  const std::string file = "values-1/" + name + ".json";
  expect_fixture(file, canonical(Json(value)) + "\n");
  const auto json = base::parse_json(fixture(file), name);
  ASSERT_TRUE(json) << json.error().message;
  const auto read = base::decode<T>(*json, name);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(canonical(Json(*read)) + "\n", fixture(file));
}

TEST(Values, Model_EveryField_KeepsItsBytes) {
  expect_value("task", full_task());
  expect_value("task-plain", plain_task());
  expect_value("solution", sample_solution(model::Language::cpp, "kernel.cpp"));
  expect_value("usage", full_usage());
  expect_value("usage-empty", model::Usage());
  expect_value("experience", full_experience());
  expect_value("experience-empty", model::Experience());
  expect_value("plan", model::Plan{.title = "tile", .rests_on = {"e1"}, .text = "Tile the loop."});
  expect_value("evaluation", full_evaluation());
  expect_value("evaluation-empty", model::Evaluation());
  expect_value("profile-failed", failed_profile());
  expect_value("build", model::BuildReport{true, "line 1: unused", "b1", "m1", 4096, {"line 2: vectorized"}, 0.5});
}

TEST(Values, Measuring_EveryField_KeepsItsBytes) {
  expect_value("settings", full_settings());
  evaluation::MeasureSettings first;
  first.confirm_restarts = 3;  // the default until confirmations of `statistics` 2
  expect_value("settings-default", first);
  expect_value("open", full_open_report());
  expect_value("playoff", full_playoff_report());
  expect_value("arm", evaluation::Arm{model::Kernel(sample_solution(model::Language("cuda"), "kernel.cu"))});
  expect_value("hello", worker::Hello{.protocol = 1,
                                      .version = "0.1.0",
                                      .target = "cpu",
                                      .device = "cpu:1",
                                      .host = "ann-pc",
                                      .system = "Linux 6.1.0 x86_64",
                                      .machine = "a processor",
                                      .cores = 8});
}

TEST(Values, Result_EveryField_KeepsItsBytes) {
  expect_fixture("values-1/result.json", canonical(search::to_result_json(full_result())) + "\n");
}

TEST(Values, Events_EveryKind_KeepTheirBytes) {
  std::string lines;
  for (const model::Event& event : every_event()) lines += canonical(report::event_json(event)) + "\n";
  expect_fixture("events-1.jsonl", lines);
  for (const std::string& line : fixture_lines("events-1.jsonl")) {
    const auto read = report::event_from_json(Json::parse(line));
    ASSERT_TRUE(read && *read) << line;
    EXPECT_EQ(canonical(report::event_json(**read)), line);
  }
}

TEST(Values, Events_NewerSchema_Refused) {
  Json event = Json::parse(fixture_lines("events-1.jsonl").front());
  event["schema"] = 2;
  const auto read = report::event_from_json(event);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(read.error().message.find("schema 2 is newer than this program, which reads up to 1; use a newer accelopt"),
            std::string::npos)
      << read.error().message;
}

}  // namespace
}  // namespace accelopt::versions
