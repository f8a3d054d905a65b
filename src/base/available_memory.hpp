// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace accelopt::base {

/// Bytes that a program may take now, in its container too; none where the machine does not tell.
std::optional<std::uint64_t> available_memory();

}  // namespace accelopt::base
