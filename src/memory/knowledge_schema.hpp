// SPDX-License-Identifier: Apache-2.0
// The tables of a knowledge file, their version, and what is said of a file that cannot be used.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.hpp"
#include "journal/sqlite.hpp"

namespace accelopt::memory {

/// The version of the tables that this program reads and writes.
inline constexpr std::int64_t kKnowledgeVersion = 2;

/// Refuses a file that is no knowledge store, or one of a newer version, from its first bytes and without opening it as
/// a database; passes what is absent or empty. @error corrupt; permission_denied, io.
base::Result<void> check_knowledge_file(const std::filesystem::path& file);

/// Makes the tables, or brings those of an older version up to this one; what is stored stays. Several processes may do
/// it at once. @error corrupt: of another program or a newer version; as journal::Database::error.
base::Result<void> prepare_tables(journal::Database& database);

/// Whether the database has the tables of this version. @error as prepare_tables.
base::Result<bool> has_tables(journal::Database& database);

/// The error with what to do about a knowledge file in place of what to do about a journal.
base::Error about_knowledge(base::Error error);

}  // namespace accelopt::memory
