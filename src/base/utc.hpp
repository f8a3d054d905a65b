// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace accelopt::base {

/// The time now in UTC, as strftime writes it; at most 63 bytes.
std::string utc(const char* format);
/// "2026-11-21T18:41:04Z"
std::string utc_now();

}  // namespace accelopt::base
