// SPDX-License-Identifier: Apache-2.0
#include "cli/device.hpp"

#include <gtest/gtest.h>

namespace accelopt::cli {
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

TEST(WorkerOption, Repeated_TakesOneCommandEach) {
  CommandLine line("test", "", "0");
  Command command = line.add("run", "runs");
  DeviceFlags flags;
  std::string task;
  command.option("task", &task, "a task");
  declare(command, flags);
  std::vector<std::string> words{"accelopt", "run", "--worker", "ssh a", "task", "--worker=ssh b", "--device", "cpu"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  EXPECT_EQ(line.parse(static_cast<int>(argv.size()), argv.data(), 2), std::nullopt);
  ASSERT_EQ(flags.workers.size(), 2U);
  EXPECT_EQ(flags.workers[0].command, "ssh a");
  EXPECT_EQ(flags.workers[1].command, "ssh b");
  EXPECT_EQ(task, "task") << "what follows a command is no second one";
  EXPECT_TRUE(flags.device_given) << "also where it says what is usual";
}

TEST(PlaceOf, Workers_AreNamed) {
  EXPECT_EQ(place_of(through({{"ssh a"}})), "through the worker \"ssh a\"");
  EXPECT_EQ(place_of(through({{"ssh a", "one"}, {"ssh b"}})), "through 2 workers: \"one\", \"ssh b\"");
}

}  // namespace
}  // namespace accelopt::cli
