// SPDX-License-Identifier: Apache-2.0
// Paths that others' data sets name, and folders that somebody may have prepared.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace accelopt::suites {

/// The file below the folder that a path of the dataset names. @error permission_denied: it is absolute, leaves the
/// folder, or passes a symbolic link; not_found.
base::Result<std::filesystem::path> file_in(const std::filesystem::path& folder, const std::string& path);

/// Whether another's name can be that of a folder: letters, digits, "_", "-" and ".", and neither hidden nor an option.
bool is_folder_name(const std::string& name);

enum class OldFiles { refuse, replace };

/// Why no task can be written into the folder: it is not empty, and may not be; or it has symbolic links, through which
/// what is written might go anywhere. "": one can.
std::string no_place_for_task(const std::filesystem::path& folder, OldFiles old);

}  // namespace accelopt::suites
