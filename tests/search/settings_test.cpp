// SPDX-License-Identifier: Apache-2.0
#include "search/settings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace accelopt::search {
namespace {

TEST(Preset, PaperHasThePublishedParameters) {
  const auto paper = preset("paper");
  ASSERT_TRUE(paper);
  EXPECT_EQ(paper->iterations, 16);
  EXPECT_EQ(paper->beam, 6);
  EXPECT_EQ(paper->plans, 12);
  EXPECT_EQ(paper->attempts, 2);
  EXPECT_EQ(paper->fixes, 0);
  EXPECT_DOUBLE_EQ(paper->memory_positive, 1.04);
  EXPECT_DOUBLE_EQ(paper->memory_negative, 1.15);
  EXPECT_EQ(paper->rules, Rules::paper);
}

TEST(Preset, RefusesAnUnknownNameAndListsTheKnown) {
  const auto unknown = preset("fast");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(unknown.error().message.find("paper"), std::string::npos);
}

TEST(Settings, SurviveJson) {
  SearchSettings settings = *preset("paper");
  settings.strategy = Strategy::repeated_sampling;
  settings.max_usd = 1.5;
  const auto back = base::Json(settings).get<SearchSettings>();
  EXPECT_EQ(base::Json(back), base::Json(settings));
  EXPECT_EQ(back.strategy, Strategy::repeated_sampling);
  EXPECT_EQ(back.max_usd, 1.5);
  EXPECT_FALSE(back.max_tokens);
}

TEST(SetByName, ChangesOneSettingAndRefusesTheRest) {
  SearchSettings settings;
  ASSERT_TRUE(set_by_name(settings, "beam", "2"));
  EXPECT_EQ(settings.beam, 2);
  EXPECT_FALSE(set_by_name(settings, "baem", "2"));
  EXPECT_FALSE(set_by_name(settings, "beam", "0"));
  EXPECT_FALSE(set_by_name(settings, "beam", "many"));
  EXPECT_FALSE(set_by_name(settings, "strategy", "clever"));
  EXPECT_EQ(settings.beam, 2);
}

TEST(Check, NamesTheSettingAndItsRange) {
  SearchSettings settings;
  settings.plans = 0;
  const auto checked = check(settings);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("plans is 0"), std::string::npos);
}

TEST(MostEvaluations, ABudgetMakesThemFewer) {
  SearchSettings settings{.iterations = 6, .beam = 2, .plans = 3, .attempts = 2};
  EXPECT_EQ(most_evaluations(settings), 72);
  settings.max_evaluations = 2;
  EXPECT_EQ(most_evaluations(settings), 2);
  settings.max_evaluations = 100;
  EXPECT_EQ(most_evaluations(settings), 72);
}

TEST(Settings, ABudgetIsANumberOverNothing) {
  const double no_end = std::numeric_limits<double>::infinity();
  for (const double wrong : {0.0, -1.0, no_end, std::nan("")}) {
    for (auto limit : {&SearchSettings::max_usd, &SearchSettings::max_seconds, &SearchSettings::max_device_seconds}) {
      SearchSettings settings;
      settings.*limit = wrong;
      const auto checked = check(settings);
      ASSERT_FALSE(checked) << wrong;
      EXPECT_EQ(checked.error().code, base::ErrorCode::invalid_argument);
      settings.*limit = 1e-3;
      EXPECT_TRUE(check(settings));
    }
  }
}

}  // namespace
}  // namespace accelopt::search
