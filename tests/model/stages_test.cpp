// SPDX-License-Identifier: Apache-2.0
#include "model/stages.hpp"

#include <gtest/gtest.h>

namespace accelopt::model {
namespace {

TEST(Stages, TwoBuildsOfBefore_AreNoMeasuring) {
  const base::Json evaluation = {{"stages",
                                  {{{"name", "build"}, {"seconds", 4.0}},
                                   {{"name", "build"}, {"seconds", 0.5}},
                                   {{"name", "verify"}, {"seconds", 1.0}},
                                   {{"name", "triage"}, {"seconds", 2.0}}}}};

  const std::vector<StageTime> stages = stages_in(evaluation);

  EXPECT_EQ(stages.size(), 4U);
  EXPECT_EQ(measured_seconds(stages), 3.0);
  EXPECT_EQ(seconds_of(stages, Stage::verify), 1.0);
}

TEST(Stages, NameOfANewerProgram_IsOther) {
  const auto stages = stages_in({{"stages", {{{"name", "levitate"}, {"seconds", 1.5}}}}});

  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0].stage, Stage::other);
  EXPECT_EQ(measured_seconds(stages), 1.5);
}

TEST(Stages, NoneNamed_NothingIsKnown) {
  for (const base::Json& evaluation : {base::Json::object(), base::Json(), base::Json{{"stages", "none"}}}) {
    EXPECT_TRUE(stages_in(evaluation).empty());
    EXPECT_EQ(measured_seconds(stages_in(evaluation)), std::nullopt);
  }
}

}  // namespace
}  // namespace accelopt::model
