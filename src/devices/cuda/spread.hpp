// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "devices/cuda/checks.hpp"

namespace accelopt::devices::cuda {

/// More elements are not brought to the host, to keep a failure from taking seconds.
inline constexpr std::uint64_t kMostSpreadElements = std::uint64_t{1} << 25;

/// evaluation::spread_text of a wrong output, from copies of it, of what it must be and of its bounds; empty where
/// there are too many elements. @param slot where the slot's workspace lies, open @error as Device.
base::Result<std::string> spread_on_device(Device& device, DevicePointer actual, const KeptOutput& kept,
                                           DevicePointer slot, std::uint64_t most = kMostSpreadElements);

}  // namespace accelopt::devices::cuda
