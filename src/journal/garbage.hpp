// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.hpp"
#include "journal/control.hpp"

namespace accelopt::journal {

enum class Sweep { look, remove };

/// Objects of a journal that nothing on record refers to, and those that stay.
struct Garbage {
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
  std::int64_t kept = 0;
};

/// Finds, and with Sweep::remove removes, what the journal in `folder` stores and nothing refers to: an object stays if
/// its hash occurs anywhere in the database, or in an object that stays. The database is locked meanwhile, so that no
/// run begins or writes.
/// Before that it may take three seconds for each run to see whether a process of another machine goes on
/// (shows_life()).
/// @error unavailable: a run goes on (the message names it); else as open_journal.
base::Result<Garbage> collect_garbage(const std::filesystem::path& folder, Sweep sweep, const Wait& wait = sleep_for);

}  // namespace accelopt::journal
