// SPDX-License-Identifier: Apache-2.0
#include "app/reviewer_history.hpp"

#include <algorithm>

#include "app/workspace.hpp"
#include "base/schema.hpp"
#include "journal/review_log.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr int kRatesSchema = 1;

Result<void> enter(const std::filesystem::path& workspace, const journal::ReviewRecord& record) {
  TRY(open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const auto log, journal::open_review_log(workspace, journal::Access::read_write));
  return log->enter(record);
}

Result<std::vector<journal::ReviewRecord>> records_in(const std::filesystem::path& workspace) {
  if (const auto journal = open_workspace(workspace, journal::Access::read_only); !journal) {
    if (journal.error().code == ErrorCode::not_found) return std::vector<journal::ReviewRecord>();
    return tl::make_unexpected(journal.error());
  }
  TRY_ASSIGN(const auto log, journal::open_review_log(workspace, journal::Access::read_only));
  return log->list();
}

void add_review(ReviewerRecord& reviewer, const journal::ReviewRecord& record) {
  ++reviewer.reviews;
  for (const Json& change : record.content.value("changes", Json::array())) {
    for (const Json& objection : change.value("objections", Json::array()))
      reviewer.confirmed.count(base::text_at(objection, "fate") == "confirmed");
  }
  for (const Json& pair : record.content.value("pairs", Json::array()))
    reviewer.flips.count(pair.value("flipped", false));
  if (record.run.empty()) return;
  ++reviewer.choices;
  if (!record.settled.empty()) reviewer.reverted.count(record.settled == "failed");
}

}  // namespace

void to_json(Json& out, const ReviewerRecord& record) {
  out = {{"type", "reviewer"},
         {"schema", 1},
         {"model", record.model},
         {"weight", review::to_string(record.standing.weight)},
         {"why", record.standing.why},
         {"rates", record.rates ? Json(*record.rates) : Json()},
         {"reviews", record.reviews},
         {"confirmed", {{"hits", record.confirmed.hits}, {"of", record.confirmed.of}}},
         {"flips", {{"hits", record.flips.hits}, {"of", record.flips.of}}},
         {"choices", record.choices},
         {"reverted", {{"hits", record.reverted.hits}, {"of", record.reverted.of}}}};
}

Result<std::vector<ReviewerRecord>> list_reviewers(const std::filesystem::path& workspace) {
  TRY_ASSIGN(const auto records, records_in(workspace));
  std::vector<ReviewerRecord> reviewers;
  for (const journal::ReviewRecord& record : records) {
    auto found = std::ranges::find(reviewers, record.model, &ReviewerRecord::model);
    if (found == reviewers.end()) {
      reviewers.push_back(
          {.model = record.model, .standing = {}, .rates = {}, .confirmed = {}, .flips = {}, .reverted = {}});
      found = reviewers.end() - 1;
    }
    if (record.kind == journal::kReviewKind) add_review(*found, record);
    if (record.kind != journal::kCalibrationKind || found->rates) continue;
    TRY(base::check_schema(record.content, kRatesSchema, "the calibration of " + record.model));
    TRY_ASSIGN(found->rates, base::decode<review::Rates>(record.content, "the calibration of " + record.model));
  }
  for (ReviewerRecord& reviewer : reviewers) reviewer.standing = review::standing_of(reviewer.rates);
  return reviewers;
}

Result<review::Standing> standing_on_record(const std::filesystem::path& workspace, const std::string& model) {
  TRY_ASSIGN(const auto reviewers, list_reviewers(workspace));
  const auto found = std::ranges::find(reviewers, model, &ReviewerRecord::model);
  return found == reviewers.end() ? review::standing_of(std::nullopt) : found->standing;
}

Result<void> record_review(const std::filesystem::path& workspace, const ReviewReport& report) {
  return enter(workspace, {.kind = std::string(journal::kReviewKind),
                           .model = report.model,
                           .run = report.commit.empty() ? "" : report.run,
                           .created = report.created,
                           .settled = {},
                           .content = report});
}

Result<void> record_review_of_run(const std::filesystem::path& workspace, const std::string& run,
                                  const std::string& commit, Json review) {
  TRY_ASSIGN(const auto records, records_in(workspace));
  const auto is_it = [&](const journal::ReviewRecord& record) {
    return record.kind == journal::kReviewKind && base::text_at(record.content, "run") == run;
  };
  if (std::ranges::any_of(records, is_it)) return {};  // of a run that was resumed after its end
  review["run"] = run;
  review["commit"] = commit;
  return enter(workspace, {.kind = std::string(journal::kReviewKind),
                           .model = base::text_at(review, "model"),
                           .run = commit.empty() ? "" : run,
                           .created = base::text_at(review, "created"),
                           .settled = {},
                           .content = review});
}

Result<void> record_calibration(const std::filesystem::path& workspace, const review::Rates& rates) {
  Json content = rates;
  content["schema"] = kRatesSchema;
  return enter(workspace, {.kind = std::string(journal::kCalibrationKind),
                           .model = rates.model,
                           .run = {},
                           .created = rates.created,
                           .settled = {},
                           .content = std::move(content)});
}

Result<bool> settle_review(const std::filesystem::path& workspace, const std::string& run, Settled settled) {
  TRY_ASSIGN(const auto records, records_in(workspace));
  const auto chose = [&](const journal::ReviewRecord& record) { return record.run == run; };
  if (std::ranges::none_of(records, chose)) return false;
  TRY_ASSIGN(const auto log, journal::open_review_log(workspace, journal::Access::read_write));
  return log->settle(run, settled == Settled::passed ? "passed" : "failed");
}

}  // namespace accelopt::app
