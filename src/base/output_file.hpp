// SPDX-License-Identifier: Apache-2.0
// A file that a user named to take a command's output.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.hpp"

namespace accelopt::base {

/// Writes a whole file. A link stays: what it leads to is written. A device or a pipe stays what it is too, and is
/// written through. @error permission_denied, exhausted, io; invalid_argument: a folder or a disk.
Result<void> write_output(const std::filesystem::path& output, std::string_view bytes);

/// Where links lead from there; the path itself where it is none. @error io; invalid_argument: to each other.
Result<std::filesystem::path> without_links(std::filesystem::path file);

}  // namespace accelopt::base
