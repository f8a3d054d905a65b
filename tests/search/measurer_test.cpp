// SPDX-License-Identifier: Apache-2.0
#include "search/measurer.hpp"

#include <gtest/gtest.h>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

/// A run that has opened its device; `resumed` is a further part of it.
struct MeasurerTest : testing::Test {
  FakeIteration parts;
  model::Kernel faster{model::with_main_text(parts.task.baseline, "speed=2\n")};

  base::Outcome<model::Evaluation> race(Measurer& measurer, const model::Identity& identity) {
    return measurer.triage(identity, faster, "code", parts.baseline().kernel, {});
  }
};

TEST_F(MeasurerTest, EqualSource_IsBuiltOnce) {
  ASSERT_TRUE(parts.measurer.build(faster, {}));
  ASSERT_TRUE(parts.measurer.build(faster, {}));
  EXPECT_EQ(parts.evaluator.builds, 1);
}

TEST_F(MeasurerTest, EqualCode_IsRacedOnceAParent) {
  ASSERT_TRUE(race(parts.measurer, {0, 0, 0, 0, 0}));
  const auto again = race(parts.measurer, {0, 0, 1, 0, 0});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(again->ratio->estimate, 2.0);
  EXPECT_EQ(parts.evaluator.triages, 1);
  ASSERT_TRUE(race(parts.measurer, {0, 1, 0, 0, 0}));
  EXPECT_EQ(parts.evaluator.triages, 2);
}

TEST_F(MeasurerTest, ResumedRun_OpensForNewMeasurements) {
  ASSERT_TRUE(parts.measurer.build(faster, {}));
  Measurer resumed(&parts.evaluator, parts.recorder, parts.task, parts.measure);
  ASSERT_TRUE(resumed.open({}));
  ASSERT_TRUE(resumed.build(faster, {}));
  EXPECT_EQ(parts.evaluator.opens, 1) << "all is on record";
  ASSERT_TRUE(race(resumed, {0, 0, 0, 0, 0}));
  EXPECT_EQ(parts.evaluator.opens, 2);
  EXPECT_EQ(parts.evaluator.builds, 1);
}

TEST_F(MeasurerTest, OtherDevice_IsRefused) {
  struct Elsewhere : FakeEvaluator {
    base::Result<evaluation::OpenReport> open(const model::Task& task, const evaluation::MeasureSettings& settings,
                                              std::stop_token stop) override {
      auto report = FakeEvaluator::open(task, settings, std::move(stop));
      report->device.name = "another";
      return report;
    }
  } elsewhere;
  Measurer resumed(&elsewhere, parts.recorder, parts.task, parts.measure);
  ASSERT_TRUE(resumed.open({}));
  const auto built = resumed.build(faster, {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::unavailable);
  EXPECT_NE(built.error().message.find("\"fake\""), std::string::npos) << built.error().message;
  EXPECT_NE(built.error().message.find("\"another\""), std::string::npos) << built.error().message;
  EXPECT_EQ(elsewhere.builds, 0);
}

TEST_F(MeasurerTest, FailingBaseline_IsRefusedOnResume) {
  parts.evaluator.baseline_status = model::Status::incorrect_numerical;
  Measurer resumed(&parts.evaluator, parts.recorder, parts.task, parts.measure);
  ASSERT_TRUE(resumed.open({}));
  const auto built = resumed.build(faster, {});
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().message.find("no longer passes"), std::string::npos) << built.error().message;
}

TEST_F(MeasurerTest, BuildOnRecord_IsKnown) {
  EXPECT_EQ(*parts.measurer.build_on_record(faster), OnRecord::no);
  ASSERT_TRUE(parts.measurer.build(faster, {}));
  EXPECT_EQ(*parts.measurer.build_on_record(faster), OnRecord::yes);
}

TEST_F(MeasurerTest, HeldOutAndConfirmation_AreMadeOnce) {
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(*parts.measurer.verify_held_out(faster, {}), model::Status::passed);
    ASSERT_TRUE(parts.measurer.confirm(faster, {}));
  }
  EXPECT_EQ(parts.evaluator.confirms, 1);
}

}  // namespace
}  // namespace accelopt::search
