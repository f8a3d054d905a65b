// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace accelopt::journal {

/// Whether this process's connection holds SQLite's locks on a database with a write-ahead log: the shared lock on the
/// file and the one on its index, as another process sees them. Without them that process may remove the log.
bool locks_are_held(const std::filesystem::path& file);

}  // namespace accelopt::journal
