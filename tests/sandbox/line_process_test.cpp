// SPDX-License-Identifier: Apache-2.0
#include "sandbox/line_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace accelopt::sandbox {
namespace {

using base::ErrorCode;

LineProcess::Deadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(30);
}

base::Result<LineProcess> shell(const std::string& script) {
  SpawnOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", script};
  options.own_namespaces = false;
  return LineProcess::start(std::move(options), {STDIN_FILENO, STDOUT_FILENO}, "the shell");
}

TEST(LineProcess, AnswersALineWithALine) {
  auto process = shell("while read -r line; do echo \"got $line\"; done");
  ASSERT_TRUE(process) << process.error().message;
  for (const char* text : {"one", "two"}) {
    ASSERT_TRUE(process->send(text, soon()));
    EXPECT_EQ(*process->receive(soon(), 100), std::string("got ") + text);
  }
}

TEST(LineProcess, SeveralLines_AreReadOneByOne) {
  auto process = shell("printf 'a\\nb\\n'; read -r line");
  ASSERT_TRUE(process);
  EXPECT_EQ(*process->receive(soon(), 100), "a");
  EXPECT_EQ(*process->receive(soon(), 100), "b");
}

TEST(LineProcess, LostProcess_SaysHow) {
  auto process = shell("exit 3");
  ASSERT_TRUE(process);
  const auto line = process->receive(soon(), 100);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, ErrorCode::unavailable);
  EXPECT_EQ(line.error().message, "the shell closed its channel");
  EXPECT_EQ(process->reap(), "ended with exit code 3");
  EXPECT_FALSE(process->valid());
}

TEST(LineProcess, SilentProcess_TimesOut) {
  auto process = shell("read -r line");
  ASSERT_TRUE(process);
  const auto line = process->receive(std::chrono::steady_clock::now(), 100);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, ErrorCode::timed_out);
}

TEST(LineProcess, StoppedRequest_IsCancelled) {
  auto process = shell("read -r line");
  ASSERT_TRUE(process);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(process->receive(soon(), 100, stop.get_token()).error().code, ErrorCode::cancelled);
}

TEST(LineProcess, EndlessLine_IsRefused) {
  auto process = shell("while :; do printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; done");
  ASSERT_TRUE(process);
  const auto line = process->receive(soon(), 1000);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, ErrorCode::exhausted);
}

}  // namespace
}  // namespace accelopt::sandbox
