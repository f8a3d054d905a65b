// SPDX-License-Identifier: Apache-2.0
#include "app/search_options.hpp"

#include <cstdlib>
#include <initializer_list>

#include <gtest/gtest.h>

#include "environment.hpp"

namespace accelopt::app {
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
  EXPECT_EQ(settings_from(flags, {}, environment_of())->search.attempts, 1);
  flags.agents.base_url = "http://localhost:1/v1";
  flags.agents.model = "m";
  EXPECT_EQ(settings_from(flags, {}, environment_of())->search.attempts, 2);
  flags.attempts = 5;
  EXPECT_EQ(settings_from(flags, {}, environment_of())->search.attempts, 5);
}

TEST(SettingsFrom, FlagsWinOverThePreset) {
  SearchFlags flags;
  flags.preset = "paper";
  flags.beam = 2;
  flags.max_time = "2m";
  flags.no_memory = true;
  flags.seed = 42;
  const auto settings = settings_from(flags, {}, environment_of());
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->search.iterations, 16);
  EXPECT_EQ(settings->search.beam, 2);
  EXPECT_EQ(settings->search.max_seconds, 120);
  EXPECT_EQ(settings->search.memory_capacity, 0);
  EXPECT_EQ(settings->measure.protocol, model::Protocol::paper);
  EXPECT_EQ(settings->measure.seed, 42U);
}

TEST(SettingsFrom, EmptyLimitOnTime_IsRefused) {
  for (auto limit : {&SearchFlags::max_time, &SearchFlags::max_device_seconds}) {
    SearchFlags flags;
    EXPECT_TRUE(settings_from(flags, {}, environment_of()));
    flags.*limit = "";
    const auto refused = settings_from(flags, {}, environment_of());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("write 90s, 3m or 2h"), std::string::npos) << refused.error().message;
  }
}

TEST(SettingsFrom, TheRooflineRuleIsOfTheFlagThenOfTheFile) {
  SearchFlags flags;
  Config config;
  EXPECT_EQ(settings_from(flags, config, environment_of())->search.near_roofline, 0.05);
  config.near_roofline = 0.02;
  EXPECT_EQ(settings_from(flags, config, environment_of())->search.near_roofline, 0.02);
  flags.preset = "paper";
  EXPECT_EQ(settings_from(flags, config, environment_of())->search.near_roofline, 0)
      << "the published method has no such rule";
  flags.near_roofline = 0.1;
  EXPECT_EQ(settings_from(flags, config, environment_of())->search.near_roofline, 0.1);
  flags.near_roofline = 1.0;
  const auto refused = settings_from(flags, config, environment_of());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "near_roofline is 1; it must be at least 0 (never stops for that) and under 1");
}

TEST(SettingsFrom, RefusesContradictions) {
  SearchFlags flags;
  flags.agents.agents = "recipes";
  flags.agents.model = "m";
  EXPECT_FALSE(settings_from(flags, {}, environment_of()));
  flags = {};
  flags.agents.base_url = "http://localhost:1/v1";
  EXPECT_FALSE(settings_from(flags, {}, environment_of()));
  flags = {};
  flags.beam = 0;
  EXPECT_FALSE(settings_from(flags, {}, environment_of()));
  flags = {};
  flags.agents.api = "openai";
  const auto refused = settings_from(flags, {}, environment_of());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("--api needs --model NAME")) << refused.error().message;
  flags = {};
  flags.agents.prompts = "prompts";
  EXPECT_FALSE(settings_from(flags, {}, environment_of())) << "recipes have none";
  flags.agents.base_url = "http://localhost:1/v1";
  flags.agents.model = "m";
  EXPECT_TRUE(settings_from(flags, {}, environment_of()));
}

struct MemoryFlags {
  const char* contradiction;  ///< what the message names, beside the first
  bool no_memory = false;
  const char* memory = "";
  bool exclude_family = false;
  const char* knowledge = "";
  const char* preset = "default";
};

base::Result<RunSettings> settings_of(const MemoryFlags& given) {
  SearchFlags flags;
  flags.preset = given.preset;
  flags.no_memory = given.no_memory;
  flags.memory = given.memory;
  flags.exclude_family = given.exclude_family;
  flags.knowledge = given.knowledge;
  return settings_from(flags, {}, environment_of());
}

TEST(SettingsFrom, RefusesFlagsOfTheMemoryThatWouldDoNothing) {
  for (const MemoryFlags& given : std::initializer_list<MemoryFlags>{
           {.contradiction = "--no-memory", .no_memory = true, .memory = "ranked"},
           {.contradiction = "--no-memory", .no_memory = true, .memory = "queue"},
           {.contradiction = "--no-memory", .no_memory = true, .knowledge = "k.db"},
           {.contradiction = "--no-memory", .no_memory = true, .exclude_family = true},
           {.contradiction = "--memory queue", .memory = "queue", .exclude_family = true},
           {.contradiction = "this preset", .exclude_family = true, .preset = "paper"},
           {.contradiction = "--knowledge none", .exclude_family = true, .knowledge = "none"},
           {.contradiction = "--knowledge none", .memory = "ranked", .knowledge = "none"}}) {
    const auto settings = settings_of(given);
    ASSERT_FALSE(settings) << given.contradiction;
    EXPECT_EQ(settings.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(settings.error().message.find(given.contradiction), std::string::npos) << settings.error().message;
    for (const auto& [flag, is_given] :
         {std::pair{"--memory", *given.memory != '\0'}, std::pair{"--exclude-family", given.exclude_family},
          std::pair{"--knowledge", *given.knowledge != '\0'}}) {
      EXPECT_TRUE(!is_given || settings.error().message.find(flag) != std::string::npos) << settings.error().message;
    }
  }
}

TEST(SettingsFrom, TakesFlagsOfTheMemoryThatAgree) {
  for (const MemoryFlags& given : std::initializer_list<MemoryFlags>{
           {.contradiction = "none", .no_memory = true, .knowledge = "none"},
           {.contradiction = "none", .memory = "queue", .knowledge = "none"},
           {.contradiction = "none", .memory = "queue", .knowledge = "k.db"},
           {.contradiction = "none", .memory = "ranked", .exclude_family = true, .preset = "paper"},
           {.contradiction = "none", .memory = "ranked", .exclude_family = true, .knowledge = "k.db"}}) {
    const auto settings = settings_of(given);
    EXPECT_TRUE(settings) << settings.error().message;
  }
}

TEST(SettingsFrom, TheEnvironmentContradictsNoFlag) {
  ASSERT_EQ(::setenv("ACCELOPT_KNOWLEDGE", "none", 1), 0);
  const auto ranked = settings_of({.contradiction = "none", .memory = "ranked", .exclude_family = true});
  EXPECT_TRUE(ranked) << ranked.error().message;
  ASSERT_EQ(::setenv("ACCELOPT_KNOWLEDGE", "/k.db", 1), 0);
  const auto none = settings_of({.contradiction = "none", .no_memory = true});
  EXPECT_TRUE(none) << none.error().message;
  ::unsetenv("ACCELOPT_KNOWLEDGE");
}

TEST(RunSettings, SurviveTheJournal) {
  SearchFlags flags;
  flags.agents.base_url = "http://localhost:1/v1";
  flags.agents.model = "m";
  flags.agents.key_env = "KEY";
  flags.device.compiler = "clang++";
  flags.seed = 0xFFFFFFFFFFFFFFFFULL;
  const auto settings = settings_from(flags, {}, environment_of());
  ASSERT_TRUE(settings);
  const auto back = run_settings_from(to_json(*settings));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(*settings));
  EXPECT_EQ(back->measure.seed, 0xFFFFFFFFFFFFFFFFULL);
}

}  // namespace
}  // namespace accelopt::app
