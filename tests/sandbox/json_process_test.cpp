// SPDX-License-Identifier: Apache-2.0
#include "sandbox/json_process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace accelopt::sandbox {
namespace {

using base::ErrorCode;
using base::Json;

constexpr std::chrono::seconds kLimit{20};

base::Result<JsonProcess> speaker(const std::string& script) {
  SpawnOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", script};
  options.own_namespaces = false;
  return JsonProcess::start(std::move(options), "the shell", 1000);
}

TEST(JsonProcess, GreetsAndAnswersByNumber) {
  auto process =
      speaker(R"(echo '{"ready":{}}'; for n in 1 2; do read -r line; echo "{\"id\":$n,\"ok\":$line}"; done)");
  ASSERT_TRUE(process);
  const auto greeting = process->receive(kLimit, {});
  ASSERT_TRUE(greeting);
  EXPECT_EQ(*greeting, Json::parse(R"({"ready": {}})"));
  for (int number = 1; number <= 2; ++number) {
    const auto answer = process->ask(Json{{"what", "size"}}, kLimit, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->at("ok"), (Json{{"id", number}, {"what", "size"}}));
  }
}

TEST(JsonProcess, AnswerToAnotherRequest_IsRefusedAndEndsIt) {
  auto process = speaker(R"(read -r line; echo '{"id":7,"ok":1}'; read -r line)");
  ASSERT_TRUE(process);
  const auto answer = process->ask(Json::object(), kLimit, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::corrupt);
  EXPECT_EQ(answer.error().message, "the shell answered another request");
  EXPECT_FALSE(process->valid());
}

TEST(JsonProcess, WhatIsNoObject_IsRefused) {
  for (const char* const line : {"[1]", "{\"id\":", "12", "no JSON"}) {
    auto process = speaker(std::string("echo '") + line + "'; read -r line");
    ASSERT_TRUE(process);
    const auto answer = process->receive(kLimit, {});
    ASSERT_FALSE(answer) << line;
    EXPECT_EQ(answer.error().code, ErrorCode::corrupt) << line;
    EXPECT_FALSE(process->valid());
  }
}

TEST(JsonProcess, LostProcess_SaysHowItEnded) {
  auto process = speaker("exit 3");
  ASSERT_TRUE(process);
  const auto answer = process->receive(kLimit, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_EQ(answer.error().message, "the shell ended with exit code 3");
}

TEST(JsonProcess, SilentProcess_TimesOutAndIsEnded) {
  auto process = speaker("read -r line; read -r line");
  ASSERT_TRUE(process);
  const auto answer = process->ask(Json::object(), std::chrono::seconds(0), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::timed_out);
  EXPECT_FALSE(process->valid());
}

}  // namespace
}  // namespace accelopt::sandbox
