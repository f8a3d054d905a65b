// SPDX-License-Identifier: Apache-2.0
// MCP over a pair of streams: one message a line.
#pragma once

#include <cstddef>
#include <stop_token>

#include "base/result.hpp"
#include "mcp/catalogue.hpp"

namespace accelopt::mcp {

/// Longest message that is read; a kernel and its context fit many times.
inline constexpr std::size_t kMostMessageBytes = std::size_t{16} << 20U;
/// Calls that are answered at the same time; one more is refused, and can be made again.
inline constexpr int kMostCalls = 256;
/// Bytes of their messages, all together; the same holds.
inline constexpr std::size_t kMostBytesAtOnce = std::size_t{128} << 20U;

/// Serves one client until its stream ends or `stop` is asked for; calls in progress are cancelled then.
/// @error io: a stream failed.
base::Result<void> serve_streams(const Catalogue& catalogue, int in, int out, const std::stop_token& stop);

}  // namespace accelopt::mcp
