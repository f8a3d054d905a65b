// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace accelopt::base {

/// "820 ns", "1.24 us", "12.4 ms", "3.10 s": three digits, never an exponent below a thousand seconds. "-": not finite.
std::string duration_text(double nanoseconds);

}  // namespace accelopt::base
