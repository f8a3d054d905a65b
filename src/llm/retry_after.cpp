// SPDX-License-Identifier: Apache-2.0
#include "llm/retry_after.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

namespace accelopt::llm {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

/// Longer than any wait that makes sense, short enough that no later arithmetic overflows.
constexpr double kLongestSeconds = 1e8;

std::optional<milliseconds> parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (problem != std::errc() || end != text.data() + text.size() || !(seconds >= 0) || std::isinf(seconds)) {
    return std::nullopt;
  }
  return milliseconds(static_cast<milliseconds::rep>(std::min(seconds, kLongestSeconds) * 1000.0));
}

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form of date that HTTP still allows to send.
std::optional<system_clock::time_point> parse_date(const std::string& text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::array<char, 4> weekday{};
  std::array<char, 4> month{};
  std::array<char, 4> zone{};
  int day = 0;
  int year = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (std::sscanf(text.c_str(), "%3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d %3[A-Z]", weekday.data(), &day,
                  month.data(), &year, &hour, &minute, &second, zone.data()) != 8) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(kMonths, std::string_view(month.data()));
  if (found == kMonths.end() || std::string_view(zone.data()) != "GMT") return std::nullopt;
  // Nanoseconds since 1970 reach to 2262.
  const std::chrono::year_month_day date{std::chrono::year(std::clamp(year, 1970, 2200)),
                                         std::chrono::month(static_cast<unsigned>(found - kMonths.begin()) + 1),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace

std::optional<milliseconds> parse_retry_after(std::string_view value, system_clock::time_point now) {
  if (const auto seconds = parse_seconds(value)) return seconds;
  const auto date = parse_date(std::string(value));
  if (!date) return std::nullopt;
  return std::max(std::chrono::duration_cast<milliseconds>(*date - now), milliseconds::zero());
}

}  // namespace accelopt::llm
