// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/files.hpp"
#include "base/result.hpp"

namespace accelopt::devices::cuda {

/// The folder in which device tools find their call and keep their own files. @error as TemporaryFolder::create.
base::Result<base::TemporaryFolder> make_tool_folder();

/// Removes such folders of this user whose process was killed from the system's temporary folder.
void remove_abandoned_tool_folders();

}  // namespace accelopt::devices::cuda
