// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/client.hpp"

namespace accelopt::llm {

/// What a server says of one of its limits.
struct ServerWindow {
  std::optional<std::int64_t> limit{};
  std::optional<std::int64_t> remaining{};
  std::optional<std::chrono::milliseconds> reset{};  ///< from now until all of the limit is there again
};

struct ServerLimits {
  ServerWindow requests{};
  ServerWindow tokens{};
};

/// The limits in an answer's headers: x-ratelimit-{limit,remaining,reset}-{requests,tokens},
/// anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}, and
/// x-ratelimit-{limit,remaining,reset}, which are taken for requests. What cannot be read is left out.
ServerLimits parse_rate_headers(const http::Head& head, std::chrono::system_clock::time_point now);

/// "20ms", "1s", "6m0s", "1h2m3.5s", or a plain number of seconds. None where it is no duration.
std::optional<std::chrono::milliseconds> parse_reset_duration(std::string_view text);

/// "2026-01-27T12:00:01Z", with or without a fraction or an offset. None where it is no such time.
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

}  // namespace accelopt::llm
