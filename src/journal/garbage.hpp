// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.hpp"

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
/// @error unavailable: a run goes on (the message names it); else as open_journal.
base::Result<Garbage> collect_garbage(const std::filesystem::path& folder, Sweep sweep);

}  // namespace accelopt::journal
