// SPDX-License-Identifier: Apache-2.0
#include "report/event_json.hpp"

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

using base::Json;

TEST(EventJson, EveryEventSurvivesTheJournal) {
  const model::Identity identity{2, 0, 3, 1, 0};
  const model::BeamMember member{identity, "swap loops", {2, 1.9, 2.1}};
  model::Usage usage;
  usage.calls = 3;
  usage.input_tokens = 1000;
  usage.output_tokens = 10;
  usage.usd = 0.5;
  const std::vector<model::Event> events{
      model::RunStarted{"r1", "matmul", "CPU", 6, 1.5e6, 0.25, 48},
      model::IterationStarted{1, 3},
      model::AttemptMoved{identity, model::AttemptState::done, "swap", model::Status::passed, model::Interval{2, 1, 3},
                          "known already", model::Verdict::faster},
      model::AttemptMoved{
          {1, 0, 2, -1, -1}, model::AttemptState::planning, "", model::Status::not_measured, std::nullopt, ""},
      model::Learned{"tile", model::Polarity::regresses, {0.5, 0.4, 0.6}},
      model::Selected{1, {member, {{}, "", {1, 1, 1}}}, member, 14, usage},
      model::Selected{},
      model::Confirming{identity, "swap loops"},
      model::RunFinished{"improved", "patience", model::Interval{2, 1.9, 2.1}, 12.5},
      model::RunFinished{"budget", "max_usd", std::nullopt, 12.5},
      model::Spending{usage, 14, 3.5, 12.25},
      model::DeviceWait{model::DeviceWait::State::shared, {4711, "sleep", "ann", 1'700'000'000'000}, 61},
      model::DeviceWait{},
      model::Note{"noisy"}};
  for (const model::Event& event : events) {
    const Json json = event_json(event);
    const auto back = event_from_json(json);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_TRUE(*back) << json;
    EXPECT_EQ((*back)->index(), event.index());
    EXPECT_EQ(event_json(**back), json);
  }
}

TEST(EventJson, ALaterVersionsEventIsPassedOverAndADamagedOneRefused) {
  EXPECT_EQ(*event_from_json({{"type", "weather"}, {"schema", 1}}), std::nullopt);
  EXPECT_EQ(event_from_json({{"schema", 1}}).error().code, base::ErrorCode::parse);
  EXPECT_EQ(event_from_json({{"type", "learned"}, {"title", "x"}}).error().code, base::ErrorCode::parse);
  EXPECT_EQ(event_from_json({{"type", "attempt"}, {"id", 5}, {"state", "done"}}).error().code, base::ErrorCode::parse);
}

}  // namespace
}  // namespace accelopt::report
