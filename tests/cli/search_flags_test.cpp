// SPDX-License-Identifier: Apache-2.0
#include "cli/search_flags.hpp"

#include <gtest/gtest.h>

namespace accelopt::cli {
namespace {

TEST(WorkerOption, Repeated_TakesOneCommandEach) {
  CommandLine line("test", "", "0");
  Command command = line.add("run", "runs");
  app::DeviceFlags flags;
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

}  // namespace
}  // namespace accelopt::cli
