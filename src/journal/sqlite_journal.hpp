// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "base/result.hpp"
#include "base/sqlite.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

/// How long a call waits for another program's lock before it is an error.
inline constexpr std::chrono::milliseconds kBusyTimeout{30'000};

struct OpenOptions {
  Access access = Access::read_write;
  std::chrono::milliseconds busy_timeout = kBusyTimeout;
};

/// open_journal with another patience. @error as open_journal.
base::Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::filesystem::path& folder, OpenOptions options);

/// A connection to the folder's database, made or brought up to date where that is allowed. @error as open_journal.
base::Result<std::unique_ptr<base::Database>> open_journal_database(const std::filesystem::path& folder,
                                                                    OpenOptions options);

}  // namespace accelopt::journal
