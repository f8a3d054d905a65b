// SPDX-License-Identifier: Apache-2.0
#include "llm/rate_headers.hpp"

#include <gtest/gtest.h>

namespace accelopt::llm {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

const auto kNoon = std::chrono::sys_days(2026y / 11 / 21) + 12h;

TEST(ParseResetDuration, ReadsWhatServersSend) {
  EXPECT_EQ(parse_reset_duration("20ms"), 20ms);
  EXPECT_EQ(parse_reset_duration("1s"), 1s);
  EXPECT_EQ(parse_reset_duration("6m0s"), 6min);
  EXPECT_EQ(parse_reset_duration("1h2m3.5s"), 1h + 2min + 3500ms);
  EXPECT_EQ(parse_reset_duration("12"), 12s);
  EXPECT_EQ(parse_reset_duration("0.25"), 250ms);
  for (const char* wrong : {"", "s", "soon", "-1s", "1d", "1s later", "s1"}) {
    EXPECT_EQ(parse_reset_duration(wrong), std::nullopt) << wrong;
  }
}

TEST(ParseRfc3339, ReadsTimesWithFractionsAndOffsets) {
  EXPECT_EQ(parse_rfc3339("2026-11-21T12:00:00Z"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-11-21T12:00:05.123Z"), kNoon + 5s);
  EXPECT_EQ(parse_rfc3339("2026-11-21T14:00:00+02:00"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-11-21T07:30:00-04:30"), kNoon);
  for (const char* wrong : {"", "2026-11-21", "2026-11-21T12:00:00", "2026-13-21T12:00:00Z", "6m0s", "12"}) {
    EXPECT_EQ(parse_rfc3339(wrong), std::nullopt) << wrong;
  }
}

TEST(ParseRateHeaders, ReadsOpenAis) {
  const ServerLimits limits = parse_rate_headers({200,
                                                  {{"x-ratelimit-limit-requests", "60"},
                                                   {"x-ratelimit-remaining-requests", "59"},
                                                   {"x-ratelimit-reset-requests", "1s"},
                                                   {"x-ratelimit-limit-tokens", "150000"},
                                                   {"x-ratelimit-remaining-tokens", "149984"},
                                                   {"x-ratelimit-reset-tokens", "6m0s"}}},
                                                 kNoon);
  EXPECT_EQ(limits.requests.limit, 60);
  EXPECT_EQ(limits.requests.remaining, 59);
  EXPECT_EQ(limits.requests.reset, 1s);
  EXPECT_EQ(limits.tokens.remaining, 149'984);
  EXPECT_EQ(limits.tokens.reset, 6min);
}

TEST(ParseRateHeaders, ReadsAnthropics) {
  const ServerLimits limits = parse_rate_headers({200,
                                                  {{"anthropic-ratelimit-requests-limit", "50"},
                                                   {"anthropic-ratelimit-requests-remaining", "0"},
                                                   {"anthropic-ratelimit-requests-reset", "2026-11-21T12:00:30Z"},
                                                   {"anthropic-ratelimit-input-tokens-limit", "30000"},
                                                   {"anthropic-ratelimit-input-tokens-remaining", "1000"},
                                                   {"anthropic-ratelimit-input-tokens-reset", "2026-11-21T11:59:00Z"}}},
                                                 kNoon);
  EXPECT_EQ(limits.requests.remaining, 0);
  EXPECT_EQ(limits.requests.reset, 30s);
  EXPECT_EQ(limits.tokens.remaining, 1'000);
  EXPECT_EQ(limits.tokens.reset, 0s) << "a moment that has passed";
}

TEST(ParseRateHeaders, ReadsPlainOnesWithAnEpoch) {
  const auto epoch = std::chrono::duration_cast<milliseconds>((kNoon + 7s).time_since_epoch()).count();
  const ServerLimits limits = parse_rate_headers(
      {200,
       {{"x-ratelimit-limit", "20"}, {"x-ratelimit-remaining", "3"}, {"x-ratelimit-reset", std::to_string(epoch)}}},
      kNoon);
  EXPECT_EQ(limits.requests.remaining, 3);
  EXPECT_EQ(limits.requests.reset, 7s);
}

TEST(ParseRateHeaders, LeavesOutWhatItCannotRead) {
  const ServerLimits limits = parse_rate_headers({200,
                                                  {{"x-ratelimit-remaining-requests", "many"},
                                                   {"x-ratelimit-remaining-tokens", "-5"},
                                                   {"x-ratelimit-reset-tokens", "whenever"}}},
                                                 kNoon);
  EXPECT_EQ(limits.requests.remaining, std::nullopt);
  EXPECT_EQ(limits.tokens.remaining, std::nullopt);
  EXPECT_EQ(limits.tokens.reset, std::nullopt);
}

}  // namespace
}  // namespace accelopt::llm
