// SPDX-License-Identifier: Apache-2.0
// SQLite files of ours: told from others' by their first bytes, made, brought up to this program's version, and opened
// by any number of processes at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "base/sqlite.hpp"

namespace accelopt::journal {

/// One kind of file.
struct FileFormat {
  std::int64_t application_id = 0;           ///< marks the file in the place that SQLite keeps for it
  std::int64_t version = 1;                  ///< of the tables that this program reads and writes
  const char* tables = "";                   ///< SQL that makes version 1
  std::span<const char* const> additions{};  ///< what each version has added to the one before, from version 2 on
  const char* connection = "";               ///< SQL for every new connection
  std::string_view name;                     ///< "accelopt journal"
  std::string_view word;                     ///< "journal": of its version
  std::string_view elsewhere;                ///< what a user can do: "choose another workspace with --workspace DIR"
};

/// Refuses a file of another kind, of a newer version, or that is cut short, from its first bytes and without using it
/// as a database; passes what is absent or empty. No connection of this process loses a lock by it. @error corrupt;
/// permission_denied, io.
base::Result<void> check_file(const std::filesystem::path& file, const FileFormat& format);

/// The version of the tables; 0: the database is empty. One statement sees one state, also while another process makes
/// the tables. @error corrupt: of another program, or of a newer version; as base::Database::error.
base::Result<std::int64_t> version_of(base::Database& database, const FileFormat& format);

/// Makes the tables, or brings those of an older version up to this one, unless another process just did; what is
/// stored stays. @error as version_of.
base::Result<void> prepare(base::Database& database, const FileFormat& format);

/// A connection that may write; file and tables are made where there are none. The log is a write-ahead log: every
/// commit survives the death of any process. @error permission_denied; as version_of.
base::Result<std::unique_ptr<base::Database>> open_for_writing(const std::filesystem::path& file,
                                                               const FileFormat& format,
                                                               std::chrono::milliseconds patience);

/// A connection that only reads, and the version of what it reads; nothing is made or brought up to date. A folder that
/// may not be written is none the worse. Without a database: null. @error as version_of.
struct Reading {
  std::unique_ptr<base::Database> database;
  std::int64_t version = 0;
};
base::Result<Reading> open_for_reading(const std::filesystem::path& file, const FileFormat& format,
                                       std::chrono::milliseconds patience);

}  // namespace accelopt::journal
