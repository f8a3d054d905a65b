// SPDX-License-Identifier: Apache-2.0
#include "cli/search_flags.hpp"

#include <gtest/gtest.h>

namespace accelopt::cli {
namespace {

TEST(ParseDuration, ReadsSecondsMinutesHours) {
  EXPECT_DOUBLE_EQ(*parse_duration("90s"), 90);
  EXPECT_DOUBLE_EQ(*parse_duration("3m"), 180);
  EXPECT_DOUBLE_EQ(*parse_duration("1.5h"), 5400);
  for (const char* text : {"", "3", "m", "-3m", "3 m", "3d", "0s", "1e9999s", "nan s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, base::ErrorCode::invalid_argument);
  }
}

TEST(SettingsFrom, RecipesTryEachPlanOnceModelsTwice) {
  SearchFlags flags;
  EXPECT_EQ(settings_from(flags, {})->search.attempts, 1);
  flags.agents.base_url = "http://localhost:1/v1";
  flags.agents.model = "m";
  EXPECT_EQ(settings_from(flags, {})->search.attempts, 2);
  flags.attempts = 5;
  EXPECT_EQ(settings_from(flags, {})->search.attempts, 5);
}

TEST(SettingsFrom, FlagsWinOverThePreset) {
  SearchFlags flags;
  flags.preset = "paper";
  flags.beam = 2;
  flags.max_time = "2m";
  flags.no_memory = true;
  flags.seed = 42;
  const auto settings = settings_from(flags, {});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->search.iterations, 16);
  EXPECT_EQ(settings->search.beam, 2);
  EXPECT_EQ(settings->search.max_seconds, 120);
  EXPECT_EQ(settings->search.memory_capacity, 0);
  EXPECT_EQ(settings->measure.protocol, "paper");
  EXPECT_EQ(settings->measure.seed, 42U);
}

TEST(SettingsFrom, RefusesContradictions) {
  SearchFlags flags;
  flags.agents.agents = "recipes";
  flags.agents.model = "m";
  EXPECT_FALSE(settings_from(flags, {}));
  flags = {};
  flags.agents.base_url = "http://localhost:1/v1";
  EXPECT_FALSE(settings_from(flags, {}));
  flags = {};
  flags.beam = 0;
  EXPECT_FALSE(settings_from(flags, {}));
}

TEST(RunSettings, SurviveTheJournal) {
  SearchFlags flags;
  flags.agents.base_url = "http://localhost:1/v1";
  flags.agents.model = "m";
  flags.agents.key_env = "KEY";
  flags.device.compiler = "clang++";
  flags.seed = 0xFFFFFFFFFFFFFFFFULL;
  const auto settings = settings_from(flags, {});
  ASSERT_TRUE(settings);
  const auto back = run_settings_from(to_json(*settings));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(*settings));
  EXPECT_EQ(back->measure.seed, 0xFFFFFFFFFFFFFFFFULL);
}

}  // namespace
}  // namespace accelopt::cli
