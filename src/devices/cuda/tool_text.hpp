// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace accelopt::devices::cuda {

/// A line of a tool's output as it may be shown: without addresses, folders and what is not printable, and not longer
/// than a line.
std::string plain_tool_line(std::string_view line);

/// As much of a line as is looked at: a tool may print lines of any length.
std::string_view tool_line_start(std::string_view line);

}  // namespace accelopt::devices::cuda
