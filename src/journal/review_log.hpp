// SPDX-License-Identifier: Apache-2.0
// What reviewers said, what their calibrations found, and what became of the commits that they chose.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

inline constexpr std::string_view kCalibrationKind = "calibration";
inline constexpr std::string_view kReviewKind = "review";

struct ReviewRecord {
  std::string kind;     ///< "calibration", "review"
  std::string model;    ///< who answered
  std::string run;      ///< id of the refactoring whose commit the review chose; empty: none
  std::string created;  ///< UTC, ISO 8601
  std::string settled;  ///< "passed", "failed"; empty: nothing is known yet
  base::Json content;   ///< the object of docs/json.md
};

/// Used by one thread at a time; several processes may use the same one at once. Every call is one transaction.
/// @error as open_journal.
class ReviewLog {
 public:
  virtual ~ReviewLog() = default;
  virtual base::Result<void> enter(const ReviewRecord& record) = 0;
  virtual base::Result<std::vector<ReviewRecord>> list() = 0;  ///< newest first
  /// Notes what became of the commit of this run. Whether a review had chosen it and knew nothing yet.
  virtual base::Result<bool> settle(const std::string& run, const std::string& settled) = 0;
};

/// A connection of its own to the database of the journal in `folder`. A journal that an older version wrote has no
/// reviews when it is only read. @error as open_journal.
base::Result<std::unique_ptr<ReviewLog>> open_review_log(const std::filesystem::path& folder, Access access);

}  // namespace accelopt::journal
