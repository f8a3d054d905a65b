// SPDX-License-Identifier: Apache-2.0
#include "llm/rate_headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

#include "llm/retry_after.hpp"

namespace accelopt::llm {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

/// No reset is longer than this, milliseconds: short enough that no later arithmetic overflows.
constexpr double kLongestResetMs = 1e11;

/// Where the date ends in "2026-11-21T12:00:00Z".
constexpr std::size_t kTimeMark = 10;

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || !(number >= 0) || std::isinf(number)) {
    return std::nullopt;
  }
  return number;
}

milliseconds milliseconds_of(double ms) {
  return milliseconds(static_cast<milliseconds::rep>(std::ceil(std::min(ms, kLongestResetMs))));
}

/// A duration, a moment, or (as some servers send) seconds or milliseconds since 1970.
std::optional<milliseconds> reset_of(std::string_view text, system_clock::time_point now) {
  if (const auto moment = parse_rfc3339(text)) {
    return std::max(std::chrono::duration_cast<milliseconds>(*moment - now), milliseconds::zero());
  }
  constexpr double kEpochSeconds = 1e9;
  constexpr double kEpochMilliseconds = 1e12;
  if (const auto number = number_of(text); number && *number >= kEpochSeconds) {
    const double at_ms = *number >= kEpochMilliseconds ? *number : *number * 1000;
    const auto now_ms = std::chrono::duration<double, std::milli>(now.time_since_epoch()).count();
    return milliseconds_of(std::max(at_ms - now_ms, 0.0));
  }
  return parse_reset_duration(text);
}

std::optional<std::int64_t> count_in_header(const http::Head& head, const std::string& name) {
  const auto value = http::find_header(head, name);
  if (!value) return std::nullopt;
  const auto number = number_of(*value);
  constexpr double kMost = 1e15;
  return number ? std::optional(static_cast<std::int64_t>(std::min(*number, kMost))) : std::nullopt;
}

/// Where a family of headers puts the part that tells what is meant: "x-ratelimit-" + part + "-requests".
struct HeaderFamily {
  std::string before;
  std::string after;
};

ServerWindow window_of(const http::Head& head, const HeaderFamily& family, system_clock::time_point now) {
  ServerWindow window;
  window.limit = count_in_header(head, family.before + "limit" + family.after);
  window.remaining = count_in_header(head, family.before + "remaining" + family.after);
  if (const auto reset = http::find_header(head, family.before + "reset" + family.after)) {
    window.reset = reset_of(*reset, now);
  }
  return window;
}

/// The first family of which the answer has a remaining count.
template <std::size_t N>
ServerWindow first_window(const http::Head& head, const std::array<HeaderFamily, N>& families,
                          system_clock::time_point now) {
  for (const HeaderFamily& family : families) {
    if (ServerWindow window = window_of(head, family, now); window.remaining) return window;
  }
  return {};
}

}  // namespace

std::optional<milliseconds> parse_reset_duration(std::string_view text) {
  if (const auto seconds = number_of(text)) return milliseconds_of(*seconds * 1000);
  double total_ms = 0;
  bool any = false;
  while (!text.empty()) {
    double number = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (problem != std::errc() || !(number >= 0)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::size_t length = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, length);
    text.remove_prefix(length);
    if (unit == "ms")
      total_ms += number;
    else if (unit == "s")
      total_ms += number * 1e3;
    else if (unit == "m")
      total_ms += number * 60e3;
    else if (unit == "h")
      total_ms += number * 3600e3;
    else
      return std::nullopt;
    any = true;
  }
  return any ? std::optional(milliseconds_of(total_ms)) : std::nullopt;
}

std::optional<system_clock::time_point> parse_rfc3339(std::string_view text) {
  std::string whole(text);
  if (whole.size() > kTimeMark && (whole[kTimeMark] == 't' || whole[kTimeMark] == ' ')) whole[kTimeMark] = 'T';
  std::string_view rest;
  const auto moment = parse_moment(whole, "%Y-%m-%dT%H:%M:%S", rest);
  if (!moment) return std::nullopt;
  if (rest.starts_with('.')) {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    rest.remove_prefix(std::min(end, rest.size()));
  }
  int offset_minutes = 0;
  if (rest != "Z" && rest != "z") {
    char sign = 0;
    int hours = 0;
    int minutes = 0;
    if (std::sscanf(std::string(rest).c_str(), "%c%2d:%2d", &sign, &hours, &minutes) != 3 ||
        (sign != '+' && sign != '-')) {
      return std::nullopt;
    }
    offset_minutes = (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
  }
  return *moment - std::chrono::minutes(offset_minutes);
}

ServerLimits parse_rate_headers(const http::Head& head, system_clock::time_point now) {
  static const std::array<HeaderFamily, 2> kRequests{{{"x-ratelimit-", "-requests"}, {"x-ratelimit-", ""}}};
  static const std::array<HeaderFamily, 1> kTokens{{{"x-ratelimit-", "-tokens"}}};
  // Anthropic names the kind first; "tokens" is whichever limit is the tightest.
  static const HeaderFamily kAnthropicRequests{"anthropic-ratelimit-requests-", ""};
  static const std::array<HeaderFamily, 3> kAnthropicTokens{{{"anthropic-ratelimit-tokens-", ""},
                                                             {"anthropic-ratelimit-input-tokens-", ""},
                                                             {"anthropic-ratelimit-output-tokens-", ""}}};
  ServerLimits limits;
  limits.requests = window_of(head, kAnthropicRequests, now);
  if (!limits.requests.remaining) limits.requests = first_window(head, kRequests, now);
  limits.tokens = first_window(head, kAnthropicTokens, now);
  if (!limits.tokens.remaining) limits.tokens = first_window(head, kTokens, now);
  return limits;
}

}  // namespace accelopt::llm
