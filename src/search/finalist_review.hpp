// SPDX-License-Identifier: Apache-2.0
// What a critical search asks before it confirms: a reviewer, among the finalists.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/outcome.hpp"
#include "model/events.hpp"
#include "model/judges.hpp"
#include "model/usage.hpp"
#include "search/attempt.hpp"
#include "search/budget.hpp"
#include "search/candidate.hpp"
#include "search/recorder.hpp"

namespace accelopt::search {

/// A finalist that an input, run on it and on the baseline, showed to be wrong.
struct StoppedFinalist {
  std::string source;  ///< its id
  std::string why;     ///< the difference
};
void to_json(base::Json& out, const StoppedFinalist& stopped);
void from_json(const base::Json& in, StoppedFinalist& stopped);

/// What a review came to.
struct FinalistReview {
  std::vector<std::string> order;  ///< source ids of those that are not stopped, in the order of being confirmed
  std::vector<StoppedFinalist> stopped;
  std::string summary;        ///< "first of 3, 2 of 3 pairs stable"
  std::string decided_by;     ///< what the first place rests on: "pairs", "clock"
  base::Json report;          ///< for people, as docs/json.md has a review
  model::Usage usage;         ///< of the reviewer's model
  double device_seconds = 0;  ///< that inputs and races took
  std::string refused{};      ///< why there was none
  /// Of a review that left nothing: why, for people.
  [[nodiscard]] std::string why_none() const;
};
void to_json(base::Json& out, const FinalistReview& review);
void from_json(const base::Json& in, FinalistReview& review);

/// The candidates of these ids, in their order.
std::vector<Candidate> in_order(const std::vector<Candidate>& candidates, const std::vector<std::string>& sources);

class FinalistReviewer {
 public:
  virtual ~FinalistReviewer() = default;
  /// Finalists are in the order of their scores. Never called at the same time as anything that measures.
  /// Put off: answers are missing. Ending: the budget allows no question more. @error as a chat model, as an evaluator.
  virtual base::Outcome<FinalistReview> review(const std::vector<Candidate>& finalists, std::stop_token stop) = 0;
  /// Questions of the last review that were put off for somebody elsewhere to answer.
  [[nodiscard]] virtual int put_off() const = 0;
};

/// What the review of a search works with. Everything outlives it.
struct FinalistQuestion {
  std::string task_id;
  const std::vector<Candidate>& finalists;
  FinalistReviewer* reviewer = nullptr;  ///< may be null in a replay
  Recorder& recorder;
  Budget& budget;
  model::EventSink& events;
  const Stops& stops;
};
/// Asks once, and charges for it. None: a replay has no review on record. Where the budget refuses it, nothing is left
/// of the finalists: what nobody reviewed is not kept as reviewed. @error as FinalistReviewer::review.
base::Outcome<std::optional<FinalistReview>> review_finalists(const FinalistQuestion& question);

}  // namespace accelopt::search
