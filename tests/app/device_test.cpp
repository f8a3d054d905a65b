// SPDX-License-Identifier: Apache-2.0
#include "app/device.hpp"

#include <gtest/gtest.h>

namespace accelopt::app {
namespace {

DeviceFlags through(std::vector<WorkerConfig> workers) {
  DeviceFlags flags;
  flags.workers = std::move(workers);
  return flags;
}

/// As a run keeps it and reads it again.
std::vector<std::string> kept(const DeviceFlags& flags) {
  std::vector<std::string> out;
  const auto again = device_flags_from(base::parse_json(base::canonical(to_json(flags)), "flags").value());
  EXPECT_TRUE(again);
  for (const WorkerConfig& worker : again->workers) out.push_back(worker.name + "=" + worker.command);
  return out;
}

TEST(DeviceFlagsJson, OneWorker_StandsAsItAlwaysDid) {
  EXPECT_EQ(base::canonical(to_json(through({{"ssh a"}}))),
            R"({"compiler":"","defer":"","device":"cpu","worker":"ssh a"})");
  EXPECT_EQ(base::canonical(to_json(DeviceFlags())), R"({"compiler":"","defer":"","device":"cpu","worker":""})");
}

TEST(DeviceFlagsJson, Workers_AreReadAsTheyWereKept) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(kept(DeviceFlags()), Texts{});
  EXPECT_EQ(kept(through({{"ssh a"}})), Texts{"=ssh a"});
  EXPECT_EQ(kept(through({{"ssh a", "one"}})), Texts{"one=ssh a"});
  EXPECT_EQ(kept(through({{"ssh a"}, {"ssh b", "two"}})), (Texts{"=ssh a", "two=ssh b"}));
  EXPECT_EQ(to_json(through({{"ssh a"}, {"ssh b"}}))["worker"], "ssh a") << "for versions that know one";
}

TEST(ConfiguredWorkers, MeasureWhereNothingElseIsSaid) {
  Config config;
  config.workers = {{"ssh a"}, {"ssh b"}};
  EXPECT_EQ(with_configured_workers({}, config).workers.size(), 2U);
  EXPECT_EQ(with_configured_workers(through({{"ssh c"}}), config).workers.size(), 1U);
  DeviceFlags here;
  here.device_given = true;
  EXPECT_TRUE(with_configured_workers(here, config).workers.empty());
  DeviceFlags deferred;
  deferred.defer = "bundles";
  EXPECT_TRUE(with_configured_workers(deferred, config).workers.empty());
  DeviceFlags compiled;
  compiled.compiler = "clang++";
  EXPECT_TRUE(with_configured_workers(compiled, config).workers.empty());
}

TEST(CheckTarget, ADeviceForOtherKernels_IsRefused) {
  model::Task task;
  const auto suits = [&](const char* target, const char* device) {
    task.target = target;
    DeviceFlags flags;
    flags.device = device;
    return check_target(flags, task);
  };
  EXPECT_TRUE(suits("cpu", "cpu:1"));
  EXPECT_TRUE(suits("cuda", "cuda:0"));
  EXPECT_TRUE(suits("triton", "cuda:0"));
  const auto refused = suits("cuda", "cpu");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "the task is for target cuda, and device cpu measures other kernels; choose device cuda:0");
  DeviceFlags elsewhere;
  elsewhere.workers = {{"ssh host accelopt worker", ""}};
  EXPECT_TRUE(check_target(elsewhere, task)) << "it says itself what it has";
}

TEST(PlaceOf, Workers_AreNamed) {
  EXPECT_EQ(place_of(through({{"ssh a"}})), "through the worker \"ssh a\"");
  EXPECT_EQ(place_of(through({{"ssh a", "one"}, {"ssh b"}})), "through 2 workers: \"one\", \"ssh b\"");
}

}  // namespace
}  // namespace accelopt::app
