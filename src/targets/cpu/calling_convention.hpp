// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace accelopt::targets::cpu {

/// What a kernel changed that it has to leave as it found it, and what to do about it; empty: nothing.
/// @param changed a bit each (bit_of in arena/protocol.hpp), from the candidate's process: others mean nothing.
std::string changed_text(std::uint32_t changed);

}  // namespace accelopt::targets::cpu
