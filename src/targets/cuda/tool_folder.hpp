// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/files.hpp"
#include "base/result.hpp"

namespace accelopt::targets::cuda {

/// The folder in which device tools find their call and keep their own files. While this lives it is locked, so that
/// another process knows that it is in use; a process that is killed loses the lock.
struct ToolFolder {
  base::TemporaryFolder folder;
  base::FileDescriptor claim;
};
/// @error as TemporaryFolder::create.
base::Result<ToolFolder> make_tool_folder();

/// Removes such folders of this user whose process was killed from the system's temporary folder.
void remove_abandoned_tool_folders();

}  // namespace accelopt::targets::cuda
