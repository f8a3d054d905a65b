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

}  // namespace accelopt::llm
