// SPDX-License-Identifier: Apache-2.0
#include "llm/retry_after.hpp"

#include <gtest/gtest.h>

namespace accelopt::llm {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;
using namespace std::chrono_literals;

constexpr system_clock::time_point kNow = std::chrono::sys_days(1994y / 11 / 6) + 8h + 49min + 37s;

TEST(ParseRetryAfter, ReadsSeconds) {
  EXPECT_EQ(parse_retry_after("0", kNow), milliseconds{0});
  EXPECT_EQ(parse_retry_after("20", kNow), milliseconds{20'000});
  EXPECT_EQ(parse_retry_after("1.5", kNow), milliseconds{1'500});
}

TEST(ParseRetryAfter, ReadsDates) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", kNow), milliseconds{30'000});
  EXPECT_EQ(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", kNow), milliseconds{86'400'000});
}

TEST(ParseRetryAfter, ADateInThePastMeansNow) {
  EXPECT_EQ(parse_retry_after("Sat, 05 Nov 1994 08:49:37 GMT", kNow), milliseconds{0});
}

TEST(ParseRetryAfter, RefusesWhatIsNeither) {
  for (const char* value :
       {"", "soon", "-5", "1e9", "nan", "inf", "12 s", "Sun, 06 Nov 1994", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_retry_after(value, kNow), std::nullopt) << value;
  }
}

TEST(ParseRetryAfter, ACrazyNumberOverflowsNothing) {
  EXPECT_GT(parse_retry_after("999999999999999999999999", kNow), milliseconds{0});
}

}  // namespace
}  // namespace accelopt::llm
