// SPDX-License-Identifier: Apache-2.0
// Which runs belong together because one `accelopt bench` made them. The runs themselves are in the journal; what is
// kept here names them, so that a suite run that was cut short still shows what it had done.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "journal/control.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

/// One task of a suite run.
struct SuiteEntry {
  std::string task;     ///< name of its folder
  std::string run{};    ///< id; empty: it could not begin
  std::string error{};  ///< why the run could not begin, or failed; empty: it did not
};

struct SuiteRun {
  std::string id;       ///< unique; sorts by time of creation
  std::string suite;    ///< folder, absolute
  std::string created;  ///< UTC, ISO 8601
  std::string program_version{};
  base::Json settings{};              ///< what it is made with; null: unknown
  std::vector<std::string> tasks{};   ///< that were to be run, in order
  Process process{};                  ///< that works on it
  std::string state = "running";      ///< or "done", "interrupted", "failed": how it ended
  std::vector<SuiteEntry> entries{};  ///< of the tasks that have begun, in order
};

/// Used by one thread at a time; several processes may use the same one at once. Every call is one transaction.
/// @error as open_journal.
class SuiteLog {
 public:
  virtual ~SuiteLog() = default;
  virtual base::Result<void> begin(const SuiteRun& run) = 0;  ///< @error already_exists
  /// Enters a task, or replaces its entry. @error not_found: no suite run of this id.
  virtual base::Result<void> enter(std::string_view id, const SuiteEntry& entry) = 0;
  virtual base::Result<void> end(std::string_view id, std::string_view state) = 0;  ///< @error not_found
  virtual base::Result<std::vector<SuiteRun>> list() = 0;                           ///< oldest first
};

/// A connection of its own to the database of the journal in `folder`. A journal that an older version wrote has no
/// suite runs, or none with known settings, when it is only read. @error as open_journal.
base::Result<std::unique_ptr<SuiteLog>> open_suite_log(const std::filesystem::path& folder, Access access);

}  // namespace accelopt::journal
