// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.hpp"
#include "journal/sqlite.hpp"

namespace accelopt::journal {

/// The version of the tables that this program reads and writes.
inline constexpr std::int64_t kSchemaVersion = 4;

/// Refuses a file that is no journal, or one of a newer version, from its first bytes and without opening it as a
/// database; passes what is absent or empty. @error corrupt; permission_denied, io.
base::Result<void> check_file(const std::filesystem::path& file);

/// Whether the database is ours to use: true when it has the tables, false when it is empty.
/// @error corrupt: it belongs to another program, or is of a newer version.
base::Result<bool> check_schema(Database& database);

/// Brings the tables of an older version up to this one; what is stored stays. @error as Database::error.
base::Result<void> upgrade_schema(Database& database);

/// Makes the tables unless another process just did. @error as Database::error.
base::Result<void> create_schema(Database& database);

}  // namespace accelopt::journal
