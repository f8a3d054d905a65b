// SPDX-License-Identifier: Apache-2.0
#include "llm/retry_after.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
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

}  // namespace

std::optional<system_clock::time_point> parse_moment(std::string_view text, const char* format,
                                                     std::string_view& rest) {
  const std::string whole(text);
  std::tm parts{};
  const char* const end = strptime(whole.c_str(), format, &parts);
  if (end == nullptr) return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(end - whole.c_str()));
  // Nanoseconds since 1970 reach to 2262.
  const std::chrono::year_month_day date{std::chrono::year(std::clamp(parts.tm_year + 1900, 1970, 2200)),
                                         std::chrono::month(static_cast<unsigned>(parts.tm_mon) + 1),
                                         std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
         std::chrono::seconds(parts.tm_sec);
}

std::optional<milliseconds> parse_retry_after(std::string_view value, system_clock::time_point now) {
  if (const auto seconds = parse_seconds(value)) return seconds;
  // "Sun, 06 Nov 1994 08:49:37 GMT", the one form of date that HTTP still allows to send.
  std::string_view rest;
  const auto date = parse_moment(value, "%a, %d %b %Y %H:%M:%S GMT", rest);
  if (!date || !rest.empty()) return std::nullopt;
  return std::max(std::chrono::duration_cast<milliseconds>(*date - now), milliseconds::zero());
}

}  // namespace accelopt::llm
