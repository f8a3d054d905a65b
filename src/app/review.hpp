// SPDX-License-Identifier: Apache-2.0
// Several changes of one refactoring task, judged by a reviewer that knows nothing of who made them or how fast they
// are: what can be proved against them, and which one is kept.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/device.hpp"
#include "app/lone_model.hpp"
#include "app/refactor.hpp"
#include "app/shell.hpp"
#include "app/team.hpp"
#include "base/json.hpp"
#include "base/outcome.hpp"
#include "model/usage.hpp"
#include "refactor/checker.hpp"
#include "review/decision.hpp"
#include "review/rates.hpp"
#include "review/reviewer.hpp"

namespace accelopt::app {

/// confirmed: run on both sides, it showed a difference, and the change is stopped. refuted: it showed none.
/// unusable: it could not be run. The last two count against the reviewer.
enum class ObjectionFate { confirmed, refuted, unusable };
std::string_view to_string(ObjectionFate fate);
struct JudgedObjection {
  review::Objection objection;
  ObjectionFate fate = ObjectionFate::refuted;
  std::string text;  ///< the difference, or why there is none
};

/// One change as the review found it.
struct ReviewedChange {
  std::string name;                          ///< as the user gave it
  std::string verdict;                       ///< of the gates
  std::string failed_gate;                   ///< empty: it passed, and the reviewer saw it
  std::string why;                           ///< the failed gate's first fact
  std::optional<stats::Interval> ratio;      ///< old time / new time
  std::optional<review::Opinion> opinion{};  ///< none: it was not asked for, or could not be read
  std::vector<JudgedObjection> objections{};
  int diff_lines = 0;
  std::string identity{};              ///< hash of its diff
  [[nodiscard]] bool stopped() const;  ///< an objection was confirmed
};

/// What the answers about two changes came to. Indices are those of ReviewReport::changes.
struct ReviewedPair {
  std::size_t first = 0;
  std::size_t second = 0;
  review::PairOutcome outcome;
  std::vector<std::string> reasons;  ///< the reviewer's, of answers that name the better one
};

struct ReviewReport {
  std::string task;
  std::string created;  ///< UTC, ISO 8601
  std::string model;
  review::Standing standing;
  std::vector<ReviewedChange> changes;
  std::vector<ReviewedPair> pairs;
  std::vector<review::CertainlyBetter> certain;
  std::optional<std::size_t> chosen;
  review::Reason reason = review::Reason::none;
  std::optional<std::size_t> advised;  ///< what the reviewer alone would keep
  model::Usage usage;
  double device_seconds = 0;  ///< that inputs and races took
  std::string run{};          ///< of the commit
  std::string branch{};       ///< of the commit
  std::string commit{};
  std::string not_committed{};  ///< why the chosen one is not
  /// "2 of 3 pairs stable"; empty: there was no pair.
  [[nodiscard]] std::string agreement() const;
};
void to_json(base::Json& out, const ReviewReport& report);

/// A change that went through the gates.
struct CheckedChange {
  std::string name;
  refactor::CheckResult result;
};

/// Who reviews, and how.
struct Reviewing {
  llm::ChatModel* chat = nullptr;
  review::Standing standing;
  int draws = 2;  ///< of each pair in each order
  int at_once = 8;
  std::stop_token stop{};
  std::function<void(std::size_t questions)> put_off = [](std::size_t) {};  ///< so many wait for an answer
  std::function<void(const std::string&)> step = [](const std::string&) {};
};
inline constexpr std::size_t kMostReviewed = 6;

/// Changes as a reviewer sees them, whatever they are changes of.
struct Reviewable {
  std::string task;
  review::Subject subject;
  std::vector<ReviewedChange> changes;
  std::vector<std::string> shown;  ///< by change; empty: a gate failed it, and it is not shown
};
/// Where what is said of them is run.
class ReviewBench {
 public:
  virtual ~ReviewBench() = default;
  /// An input on the old code and on the change at this place. @error cancelled, io.
  virtual base::Result<refactor::ProbeResult> probe(std::size_t change, const refactor::Probe& probe) = 0;
  /// Those of these changes that the clock tells apart.
  virtual base::Result<std::vector<review::CertainlyBetter>> races(const std::vector<std::size_t>& alive) = 0;
};
/// Asks, runs the objections, races whoever is left, and decides.
/// @error invalid_argument: over kMostReviewed are shown; as ChatModel::chat, ReviewBench.
base::Outcome<ReviewReport> review_shown(Reviewable reviewable, ReviewBench& bench, const Reviewing& reviewing);

/// The same of changes of a repository: asks about those that passed, runs the objections, races whoever is left
/// against each other, and decides.
/// @error invalid_argument: over kMostReviewed of them; as ChatModel::chat, Checker::probe, Checker::play_off.
base::Outcome<ReviewReport> review_checked(refactor::Checker& checker, const std::vector<CheckedChange>& changes,
                                           const Reviewing& reviewing);

/// Places of the changes that were not stopped, in the order in which they are to be kept: the chosen one first, then
/// what would be chosen without it.
std::vector<std::size_t> order_of(const ReviewReport& report);

struct ReviewOptions {
  RefactorOptions refactor;
  std::vector<RefactorChange> changes;
  int draws = 2;
  Commit commit = Commit::no;
};
/// The gates, and then review_checked; enters what came of it into the workspace. With Commit::yes the chosen one is
/// confirmed and, if it is faster, committed on a branch of its own. @error as both.
base::Outcome<ReviewReport> review_changes(const Shell& shell, const ReviewOptions& options, const AgentFlags& flags,
                                           const Config& config);

struct KernelReviewOptions {
  std::filesystem::path task;  ///< folder with task.toml
  std::vector<std::filesystem::path> kernels;
  DeviceFlags device{};
  std::optional<std::uint64_t> seed{};
  std::filesystem::path workspace;
  int draws = 2;
  std::function<void(const std::string&)> step = [](const std::string&) {};
};
/// The same of kernels of one task: each is verified and raced against the baseline, and an objection is a shape with
/// inputs, on which a kernel and the baseline are verified. @error as evaluate, load_task, review_shown.
base::Outcome<ReviewReport> review_kernels(const Shell& shell, const KernelReviewOptions& options,
                                           const AgentFlags& flags, const Config& config);

/// The reviewer's model: what the flags name, else [models.reviewer], else the default one.
base::Result<LoneModel> connect_reviewer(const Shell& shell, AgentFlags flags, const Config& config,
                                         const std::string& purpose);
/// Questions that may be in flight: to a mailbox all.
int questions_at_once(const LoneModel& model);

/// What every question about this task says of it. `paths`: of all files that changes touch.
base::Result<review::Subject> subject_of(refactor::Checker& checker, const std::vector<std::string>& paths);
/// The change as the reviewer sees it.
base::Result<std::string> shown_change(const refactor::Checker& checker, const refactor::CheckResult& result);
/// How an objection is run, with the files of the task's folder and an example of cases.
std::string how_to_object(const refactor::Task& task, std::string_view sample);

}  // namespace accelopt::app
