// SPDX-License-Identifier: Apache-2.0
#include "search/finalist_review.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_fields.hpp"

namespace accelopt::search {

ACCELOPT_JSON(StoppedFinalist) {
  field.required("source", it.source, "why", it.why);
}

ACCELOPT_JSON(FinalistReview) {
  field.required("order", it.order, "stopped", it.stopped, "summary", it.summary, "decided_by", it.decided_by, "report",
                 it.report, "usage", it.usage, "device_seconds", it.device_seconds);
  field.optional("refused", it.refused);
}

std::string FinalistReview::why_none() const {
  if (!refused.empty()) return "the finalists were not reviewed: " + refused;
  if (stopped.empty()) return "the reviewer left no finalist";
  return fmt::format("the reviewer stopped all {} finalists by inputs that were run; the first: {}", stopped.size(),
                     stopped.front().why);
}

std::vector<Candidate> in_order(const std::vector<Candidate>& candidates, const std::vector<std::string>& sources) {
  std::vector<Candidate> out;
  for (const std::string& source : sources) {
    const auto found =
        std::ranges::find_if(candidates, [&](const Candidate& one) { return one.kernel.id() == source; });
    if (found != candidates.end()) out.push_back(*found);
  }
  return out;
}

base::Outcome<std::optional<FinalistReview>> review_finalists(const FinalistQuestion& question) {
  base::Json input = {{"task", question.task_id}, {"finalists", base::Json::array()}};
  for (const Candidate& finalist : question.finalists) input["finalists"].push_back(finalist.kernel.id());
  const auto ask = [&]() -> base::Outcome<FinalistReview> {
    if (question.reviewer == nullptr)
      return base::fail(base::ErrorCode::invalid_argument, "a critical search has no reviewer");
    auto made = question.reviewer->review(question.finalists, question.stops.wind_down);
    const bool by_budget = !made && made.error().why == base::Why::ending && !question.stops.wind_down.stop_requested();
    if (made) question.budget.spend({.device_seconds = made->device_seconds});
    if (!by_budget) return made;
    FinalistReview none;
    none.refused = made.error().message;
    TRY_ASSIGN(none.usage, question.recorder.usage_of_chats("reviewer "));
    return none;
  };
  auto review = question.recorder.once<FinalistReview>({{}, std::string(model::kReviewStep)}, input, ask);
  if (!review && review.error().why == base::Why::not_on_record) return std::nullopt;
  if (!review) return tl::make_unexpected(review.error());
  question.budget.charge(model::kReviewerRole, review->usage);
  for (const StoppedFinalist& one : review->stopped)
    question.events.on(model::Note{"the reviewer stopped a finalist by an input that was run: " + one.why});
  if (!review->order.empty()) {
    question.events.on(model::Note{fmt::format("the reviewer's decision among {} finalists rests on: {}",
                                               question.finalists.size(), review->decided_by)});
  }
  return std::optional(std::move(*review));
}

}  // namespace accelopt::search
