// SPDX-License-Identifier: Apache-2.0
#include "app/background.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>
#include <vector>

#include "app/environment.hpp"
#include "base/files.hpp"

namespace accelopt::app {
namespace {

class BackgroundTest : public testing::Test {
 protected:
  /// Starts "sh -c SCRIPT".
  void start(const std::string& script) {
    const auto started = start_in_background(shell_, {{"-c", script}, stem_, folder_.path()});
    ASSERT_TRUE(started) << started.error().message;
  }
  /// Returns when nobody waits for the command any more.
  void wait_for_end() const {
    const base::FileDescriptor file(::open((stem_.string() + ".exit").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(file.get(), LOCK_SH), 0);
  }

  base::TemporaryFolder folder_ = base::TemporaryFolder::create("accelopt-test").value();
  std::filesystem::path stem_ = folder_.path() / "jobs" / "one";
  Shell shell_{"/bin/sh", {}, environment_of(), [](const std::string&) {}};
};

TEST_F(BackgroundTest, Command_LeavesOutputAndExitCode) {
  start("echo said; echo complained >&2; exit 5");
  wait_for_end();
  EXPECT_EQ(exit_of_background(stem_).value(), 5);
  EXPECT_FALSE(goes_on_in_background(stem_));
  EXPECT_EQ(base::read_file(stem_.string() + ".out").value(), "said\n");
  EXPECT_EQ(base::read_file(stem_.string() + ".err").value(), "complained\n");
}

TEST_F(BackgroundTest, Command_GoesOnUntilItEnds) {
  const std::filesystem::path gate = folder_.path() / "gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  start("cat gate");
  EXPECT_TRUE(goes_on_in_background(stem_));
  EXPECT_FALSE(exit_of_background(stem_).value());
  std::ofstream(gate) << "open";
  wait_for_end();
  EXPECT_EQ(exit_of_background(stem_).value(), 0);
  EXPECT_EQ(base::read_file(stem_.string() + ".out").value(), "open");
}

TEST_F(BackgroundTest, KilledCommand_HasTheSignalsCode) {
  start("kill -9 $$");
  wait_for_end();
  EXPECT_EQ(exit_of_background(stem_).value(), 128 + SIGKILL);
}

TEST_F(BackgroundTest, KilledWaiter_IsToldByName) {
  start("kill -9 $PPID");
  wait_for_end();
  const auto exit = exit_of_background(stem_);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().code, base::ErrorCode::unavailable);
  EXPECT_FALSE(goes_on_in_background(stem_));
}

TEST_F(BackgroundTest, SecondStart_KeepsNothingOfTheFirst) {
  const std::filesystem::path gate = folder_.path() / "gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  start("cat gate; exit 7");
  start("exit 2");
  wait_for_end();
  std::ofstream(gate) << "go";
  EXPECT_EQ(exit_of_background(stem_).value(), 2);
}

TEST_F(BackgroundTest, StartsAtTheSameTime_AllBegin) {
  constexpr int kStarts = 8;
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that all that wait for the commands can be waited for
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kStarts; ++i) threads.emplace_back([this] { start("exit 4"); });
  }
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_EQ(exit_of_background(stem_).value(), 4);
  for (const auto& entry : std::filesystem::directory_iterator(stem_.parent_path()))
    EXPECT_EQ(entry.path().string().find(".new"), std::string::npos) << entry.path();
}

TEST(StemOfBackgroundFile, FreshExitFile_BelongsToItsCommand) {
  EXPECT_EQ(stem_of_background_file("jobs/one.exit"), "jobs/one");
  EXPECT_EQ(stem_of_background_file("jobs/one.exit.new"), "jobs/one");
  EXPECT_EQ(stem_of_background_file("jobs/one.exit.new.a1B2c3"), "jobs/one");
  EXPECT_EQ(stem_of_background_file("jobs/one.exit.newer"), "");
  EXPECT_EQ(stem_of_background_file("jobs/.exit.new"), "");
}

TEST_F(BackgroundTest, NeverBegun_GoesOnNowhere) {
  EXPECT_FALSE(exit_of_background(stem_).value());
  EXPECT_FALSE(goes_on_in_background(stem_));
}

}  // namespace
}  // namespace accelopt::app
