// SPDX-License-Identifier: Apache-2.0
#include "model/experience.hpp"

#include <gtest/gtest.h>

namespace accelopt::model {
namespace {

Experience rewrite(const Interval& effect) {
  Experience it;
  it.title = "Fast";
  it.strategy = "Be fast";
  it.effect = effect;
  return it;
}

TEST(Experience, AnEffectOfUnknownWidthSurvivesAsJson) {
  const Experience made = rewrite(of_unknown_width(1.25));
  const base::Json json = made;
  EXPECT_EQ(json["effect"].dump(), R"({"estimate":1.25,"high":"inf","low":0.0})");
  const auto back = json.get<Experience>();
  ASSERT_TRUE(back.effect);
  EXPECT_DOUBLE_EQ(back.effect->estimate, 1.25);
  EXPECT_TRUE(has_unknown_width(*back.effect));
  EXPECT_FALSE(has_unknown_width({1.25, 1.25, 1.25}));
}

TEST(Experience, TheIdIsThatOfAnEffectWrittenWithoutAWidth) {
  EXPECT_EQ(content_id(rewrite(of_unknown_width(1.25))), content_id(rewrite({1.25, 1.25, 1.25})));
  EXPECT_NE(content_id(rewrite(of_unknown_width(1.25))), content_id(rewrite(of_unknown_width(1.5))));
  EXPECT_EQ(content_id(rewrite({2, 1.5, 3})), "6f1652413d859594") << "as it has ever been";
}

}  // namespace
}  // namespace accelopt::model
