// SPDX-License-Identifier: Apache-2.0
// File access rules that an unprivileged process puts on itself (Landlock).
#pragma once

#include <filesystem>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace accelopt::sandbox {

/// What a confined process may reach. Everything else is refused.
struct FileRules {
  std::vector<std::filesystem::path> readable;   ///< read and execute; paths that do not exist are skipped
  std::vector<std::filesystem::path> writable;   ///< everything below
  std::vector<std::filesystem::path> results{};  ///< files that are there: written, and not read back
};

/// The kernel's Landlock version, 0 where it is missing.
int landlock_version();

/// A rule set that a child applies with landlock_restrict_self. @error unsupported: no Landlock; io.
base::Result<base::FileDescriptor> make_rule_set(const FileRules& rules);

}  // namespace accelopt::sandbox
