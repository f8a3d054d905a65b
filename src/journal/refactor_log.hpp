// SPDX-License-Identifier: Apache-2.0
// What `accelopt refactor` found, one object for each change that it examined or search that it made.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

struct RefactorRecord {
  std::string id;       ///< of the refactoring; the same seed gives the same one
  std::string created;  ///< UTC, ISO 8601
  base::Json content;   ///< the object of docs/json.md
};

/// Used by one thread at a time; several processes may use the same one at once. Every call is one transaction.
/// @error as open_journal.
class RefactorLog {
 public:
  virtual ~RefactorLog() = default;
  /// Enters it as the newest; one of the same id is replaced.
  virtual base::Result<void> enter(const RefactorRecord& record) = 0;
  virtual base::Result<std::vector<RefactorRecord>> list() = 0;  ///< newest first
};

/// A connection of its own to the database of the journal in `folder`. A journal that an older version wrote has no
/// refactorings when it is only read. @error as open_journal.
base::Result<std::unique_ptr<RefactorLog>> open_refactor_log(const std::filesystem::path& folder, Access access);

}  // namespace accelopt::journal
