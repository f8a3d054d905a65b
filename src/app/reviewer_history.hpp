// SPDX-License-Identifier: Apache-2.0
// What is on record of reviewers: their calibrations, their reviews, and what became of what they chose.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/review.hpp"
#include "base/json.hpp"
#include "review/rates.hpp"

namespace accelopt::app {

/// One model as a reviewer.
struct ReviewerRecord {
  std::string model;
  review::Standing standing;
  std::optional<review::Rates> rates;  ///< of its newest calibration
  int reviews = 0;
  review::Share confirmed;  ///< of its objections in reviews
  review::Share flips;      ///< of its pairs in reviews, that order changed
  int choices = 0;          ///< of its reviews that became a commit
  review::Share reverted;   ///< of those whose fate is known
};
void to_json(base::Json& out, const ReviewerRecord& record);

/// All models, the newest first. A workspace that is not there yet has none. @error as open_review_log.
base::Result<std::vector<ReviewerRecord>> list_reviewers(const std::filesystem::path& workspace);
/// Whether what this model prefers counts. @error as list_reviewers.
base::Result<review::Standing> standing_on_record(const std::filesystem::path& workspace, const std::string& model);

base::Result<void> record_review(const std::filesystem::path& workspace, const ReviewReport& report);
/// The review of a critical run, by its JSON; once. `commit`: empty: none was made.
base::Result<void> record_review_of_run(const std::filesystem::path& workspace, const std::string& run,
                                        const std::string& commit, base::Json review);
base::Result<void> record_calibration(const std::filesystem::path& workspace, const review::Rates& rates);
/// Notes what became of a run's commit for the reviewer that chose it. Whether there is one.
base::Result<bool> settle_review(const std::filesystem::path& workspace, const std::string& run, Settled settled);

}  // namespace accelopt::app
