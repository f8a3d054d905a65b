// SPDX-License-Identifier: Apache-2.0
// What a captured host function does with tensors beside launching kernels, as launches of trusted kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "devices/cuda/program.hpp"

namespace accelopt::capture {

/// The text of the kernels, to be compiled by whoever is trusted.
std::string host_ops_text();

/// Bytes of the buffer of that name; none: there is no such buffer.
using BytesOf = std::function<std::optional<std::uint64_t>(const std::string&)>;

/// What one operation becomes.
struct HostOp {
  std::vector<devices::cuda::Launch> launches;
  std::vector<devices::cuda::ScratchBuffer> scratch;  ///< that they need beside the plan's own
};

/// A "fill", "copy", "gather", "sum", "abs_amax" or "upload" (docs/triton.md) by the kernels of cubin `cubin`. `number`
/// tells the operation's own scratch buffers ("%host7") from those of others.
/// @error corrupt: it reaches beyond its buffers, or is not what the protocol says; unsupported: a view of more than
/// eight axes that cannot be joined.
base::Result<HostOp> lowered(const base::Json& op, const BytesOf& bytes_of, std::size_t cubin, std::size_t number);

}  // namespace accelopt::capture
