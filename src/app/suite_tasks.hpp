// SPDX-License-Identifier: Apache-2.0
// The tasks of a suite: a folder of task folders, or a dataset of FlashInfer Trace.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::app {

struct SuiteTasks {
  std::vector<std::filesystem::path> folders;  ///< by name
  std::vector<std::string> left_out{};  ///< definitions of a dataset that are no complete task, each with the reason
};

/// A dataset is imported into the workspace, anew each time. @error not_found: neither is there; as import_dataset.
base::Result<SuiteTasks> suite_tasks(const std::filesystem::path& suite, const std::filesystem::path& workspace);

}  // namespace accelopt::app
