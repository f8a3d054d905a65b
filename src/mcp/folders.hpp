// SPDX-License-Identifier: Apache-2.0
// The folders that a client may name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::mcp {

class Folders {
 public:
  /// @error not_found: one is no folder.
  static base::Result<Folders> of(const std::vector<std::string>& folders);

  /// The path that a client means, with every link followed: an absolute one, or one below the first folder. It need
  /// not exist. @error permission_denied: it leads out of all folders; the message names them.
  [[nodiscard]] base::Result<std::filesystem::path> resolve(const std::string& path) const;

  /// The same of a place that a client wants written: a new name that no program reads of its own accord. No part of it
  /// below the folders begins with a dot (.git, .bashrc), and it is not in the workspace.
  /// @error permission_denied: it is one of these; as resolve.
  [[nodiscard]] base::Result<std::filesystem::path> resolve_for_writing(const std::string& path,
                                                                        const std::filesystem::path& workspace) const;

  [[nodiscard]] const std::vector<std::filesystem::path>& all() const { return folders_; }

 private:
  std::vector<std::filesystem::path> folders_;  ///< canonical; at least one
};

}  // namespace accelopt::mcp
