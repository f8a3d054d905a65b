// SPDX-License-Identifier: Apache-2.0
#include "app/run_changes.hpp"

#include <gtest/gtest.h>

namespace accelopt::app {
namespace {

journal::RunInfo run_measuring(const DeviceFlags& device) {
  RunSettings settings;
  settings.device = device;
  journal::RunInfo run;
  run.id = "20261121-101500-3fa9c1";
  run.settings = to_json(settings);
  return run;
}

DeviceFlags deferring() {
  DeviceFlags device;
  device.compiler = "clang++";
  device.defer = "/bundles";
  return device;
}

TEST(ResumedSettings, NoOptions_ChangeNothing) {
  const journal::RunInfo run = run_measuring(deferring());
  const auto settings = resumed_settings(run, {}, {});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(to_json(*settings), run.settings);
}

TEST(ResumedSettings, Device_EndsDeferringAndKeepsTheCompiler) {
  const auto settings = resumed_settings(run_measuring(deferring()), {.device = "cpu:1"}, {});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->device.device, "cpu:1");
  EXPECT_EQ(settings->device.compiler, "clang++");
  EXPECT_EQ(settings->device.defer, "");
}

TEST(ResumedSettings, Defer_TakesTheWorkersPlace) {
  DeviceFlags device;
  device.workers = {{"ssh a"}, {"ssh b"}};
  const auto settings = resumed_settings(run_measuring(device), {.defer = "/bundles"}, {});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->device.workers.empty());
  EXPECT_EQ(settings->device.defer, "/bundles");
}

TEST(ResumedSettings, Workers_TakeThePlaceOfDeviceAndCompiler) {
  DeviceFlags device = deferring();
  device.device = "cpu:1";
  const auto settings = resumed_settings(run_measuring(device), {.workers = {{"ssh a"}}}, {});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(place_of(settings->device), "through the worker \"ssh a\"");
  EXPECT_EQ(settings->device.device, "cpu");
  EXPECT_EQ(settings->device.compiler, "");
}

TEST(ResumedSettings, ExitWhenWaiting_IsAddedNeverTaken) {
  const journal::RunInfo run = run_measuring({});
  EXPECT_FALSE(resumed_settings(run, {}, {})->agents.exit_when_waiting);
  EXPECT_TRUE(resumed_settings(run, {.exit_when_waiting = true}, {})->agents.exit_when_waiting);
}

TEST(ResumedSettings, BundleOfARunThatDefersNothing_IsRefused) {
  const journal::RunInfo run = run_measuring({});
  const auto refused = resumed_settings(run, {.bundle = "back"}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find(run.id), std::string::npos);
  EXPECT_TRUE(resumed_settings(run_measuring(deferring()), {.bundle = "back"}, {}));
  EXPECT_TRUE(resumed_settings(run, {.defer = "/bundles", .bundle = "back"}, {}));
}

/// A run that asks this, with a model named "coder" configured beside it.
journal::RunInfo run_asking(const AgentFlags& agents) {
  RunSettings settings;
  settings.agents = agents;
  journal::RunInfo run;
  run.id = "20261121-101500-3fa9c1";
  run.settings = to_json(settings);
  return run;
}

Config with_coder() {
  Config config;
  config.models["coder"].model = "gpt-oss";
  return config;
}

TEST(ResumedSettings, AnotherModel_IsAskedAtTheSameEndpointWithTheSameKey) {
  const journal::RunInfo run = run_asking({.model = "tpyo", .base_url = "http://localhost:8000/v1", .key_env = "KEY"});
  const auto settings = resumed_settings(run, {.model = "typo"}, {});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->agents.model, "typo");
  EXPECT_EQ(settings->agents.base_url, "http://localhost:8000/v1");
  EXPECT_EQ(settings->agents.key_env, "KEY");
}

TEST(ResumedSettings, AnotherEndpoint_GetsNoKeyThatWasNotNamedForIt) {
  const journal::RunInfo run = run_asking({.model = "m", .base_url = "http://localhost:8000/v1", .key_env = "KEY"});
  const auto moved = resumed_settings(run, {.base_url = "http://localhost:8001/v1"}, {});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->agents.base_url, "http://localhost:8001/v1");
  EXPECT_EQ(moved->agents.model, "m");
  EXPECT_EQ(moved->agents.key_env, "");
  const auto keyed = resumed_settings(run, {.base_url = "http://localhost:8001/v1", .key_env = "OTHER"}, {});
  ASSERT_TRUE(keyed) << keyed.error().message;
  EXPECT_EQ(keyed->agents.key_env, "OTHER");
}

TEST(ResumedSettings, ModelsThatCannotBeUsed_AreRefused) {
  const auto refused = [](const AgentFlags& agents, const ResumeOptions& options) {
    const auto settings = resumed_settings(run_asking(agents), options, with_coder());
    return !settings && settings.error().code == base::ErrorCode::invalid_argument;
  };
  EXPECT_FALSE(refused({.model = "gone"}, {.model = "coder"}));
  EXPECT_TRUE(refused({.model = "coder"}, {.model = "unknown"}));
  EXPECT_TRUE(refused({.model = "coder"}, {.key_env = "KEY"})) << "a key of no endpoint";
  EXPECT_TRUE(refused({.model = "m", .base_url = "http://a/v1"}, {.base_url = "http://a/v1?key=1"}));
  EXPECT_TRUE(refused({.agents = "recipes"}, {.model = "coder"})) << "nobody was asked";
  EXPECT_TRUE(refused({.mailbox = "/questions"}, {.model = "coder"}));
  EXPECT_TRUE(refused({.replay = "/answers"}, {.model = "coder"}));
}

TEST(ResumedSettings, Contradiction_IsRefused) {
  const auto refused = resumed_settings(run_measuring({}), {.workers = {{"ssh a"}}, .defer = "/bundles"}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace accelopt::app
