// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace accelopt::targets::cuda {

/// A line of a tool's output as it may be shown: without addresses, folders and what is not printable, and not longer
/// than a line.
std::string plain_tool_line(const std::string& line);

}  // namespace accelopt::targets::cuda
