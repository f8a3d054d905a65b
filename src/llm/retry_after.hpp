// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace accelopt::llm {

/// What a `Retry-After` header asks for: seconds ("20", "1.5") or a date ("Fri, 31 Dec 1999 23:59:59 GMT"), as a time
/// from `now` on, never negative. None where it is neither.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value,
                                                           std::chrono::system_clock::time_point now);

/// The moment in UTC that a text begins with, by a format of strptime(3), and in `rest` what follows it. Years count
/// from 1970 to 2200. None where it begins with no such moment.
std::optional<std::chrono::system_clock::time_point> parse_moment(std::string_view text, const char* format,
                                                                  std::string_view& rest);

}  // namespace accelopt::llm
