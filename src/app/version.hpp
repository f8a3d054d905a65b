// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace accelopt::app {

inline constexpr const char* kVersion = ACCELOPT_VERSION;

}  // namespace accelopt::app
