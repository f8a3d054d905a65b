// SPDX-License-Identifier: Apache-2.0
#include "refactor/call_share.hpp"

#include <gtest/gtest.h>

#include <string>

#include "refactor/task.hpp"

namespace accelopt::refactor {
namespace {

TEST(CallShare, LastLineOfStandardError_TellsTheSeconds) {
  EXPECT_EQ(seconds_of_calls("a warning\nseconds of calls: 0.250000\n"), 0.25);
  EXPECT_EQ(seconds_of_calls("seconds of calls: 0.25\nkilled\n"), std::nullopt);
  EXPECT_EQ(seconds_of_calls("seconds of calls: -1"), std::nullopt);
  EXPECT_EQ(seconds_of_calls("seconds of calls: 1 s"), std::nullopt);
  EXPECT_EQ(seconds_of_calls("seconds of calls: nan"), std::nullopt);
  EXPECT_EQ(seconds_of_calls(""), std::nullopt) << "a driver that knows no such question";
}

TEST(CallShare, IsOfTheTimeBesidesStartUp) {
  EXPECT_EQ(call_share(0.25, 1.0), 0.25);
  EXPECT_EQ(call_share(1.1, 1.0), 1.0);
  EXPECT_EQ(call_share(0.25, 0.0), std::nullopt);
  EXPECT_EQ(call_share(std::nullopt, 1.0), std::nullopt);
}

TEST(CallShare, UnderHalf_IsAdvice) {
  EXPECT_EQ(call_share_advice(0.5), "");
  EXPECT_EQ(
      call_share_advice(0.06).rfind("the function has 6 % of the driver's time: a gain of 2x would show as 1.03x; ", 0),
      0U)
      << call_share_advice(0.06);
}

TEST(NewTask, EachDriver_TellsTheTimeOfItsCalls) {
  for (const char* language : {"python", "javascript", "typescript", "c", "c++", "go", "rust"}) {
    const auto files = new_task({.path = "a.x", .function = "f", .language = code_language(language)});
    const std::string& driver = files.back().text;
    EXPECT_NE(driver.find(kTimeCalls), std::string::npos) << language;
    EXPECT_NE(driver.find("seconds of calls: "), std::string::npos) << language;
  }
}

}  // namespace
}  // namespace accelopt::refactor
