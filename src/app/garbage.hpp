// SPDX-License-Identifier: Apache-2.0
// Disk space that no run needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "journal/garbage.hpp"

namespace accelopt::app {

struct FreedSpace {
  std::filesystem::path workspace;
  journal::Sweep sweep = journal::Sweep::look;   ///< look: nothing was removed
  journal::Garbage objects;                      ///< of the workspace, that nothing on record refers to
  std::vector<std::filesystem::path> folders{};  ///< temporary ones, whose processes were killed
  std::int64_t folder_bytes = 0;
  /// Of commands and runs in the background that have ended: outputs, logs, questions.
  std::vector<std::filesystem::path> leftovers{};
  std::int64_t leftover_bytes = 0;
};

/// Of the workspace's folders and the temporary folder, takes only what has a name that accelopt alone gives.
/// @error as open_workspace and journal::collect_garbage: there is no workspace, or a run is active in it.
base::Result<FreedSpace> free_space(const std::filesystem::path& workspace, journal::Sweep sweep);

/// The object of docs/json.md.
base::Json to_json(const FreedSpace& freed);

}  // namespace accelopt::app
