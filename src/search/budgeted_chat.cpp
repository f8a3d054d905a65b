// SPDX-License-Identifier: Apache-2.0
#include "search/budgeted_chat.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "model/judges.hpp"

namespace accelopt::search {

namespace {

/// Answer that is reserved for while no answer of the role is known, tokens.
constexpr std::int64_t kFirstAnswer = 8192;
/// The longest answer so far may be outdone by this factor and this many tokens.
constexpr double kAnswerMargin = 1.5;
constexpr std::int64_t kAnswerSlack = 256;
constexpr double kPromptMargin = 1.05;

/// What the answers so far teach of the next: prompt tokens a byte, and the longest answer of each role.
class TokenEstimator {
 public:
  [[nodiscard]] std::int64_t prompt(std::size_t bytes, std::size_t messages) const {
    const std::scoped_lock lock(mutex_);
    if (tokens_per_byte_ == 0) return llm::estimated_prompt_tokens(bytes, messages);
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * tokens_per_byte_ * kPromptMargin)) +
           llm::estimated_prompt_tokens(0, messages);
  }

  [[nodiscard]] std::int64_t answer(std::optional<model::AgentRole> role, const std::optional<int>& limit) const {
    const std::scoped_lock lock(mutex_);
    const auto longest = longest_.find(role);
    const std::int64_t expected =
        longest == longest_.end()
            ? kFirstAnswer
            : static_cast<std::int64_t>(kAnswerMargin * static_cast<double>(longest->second)) + kAnswerSlack;
    return limit ? std::min<std::int64_t>(expected, *limit) : expected;
  }

  void learn(std::optional<model::AgentRole> role, std::size_t prompt_bytes, const model::Usage& usage) {
    const std::scoped_lock lock(mutex_);
    if (prompt_bytes > 0 && usage.estimated_calls == 0) {
      tokens_per_byte_ =
          std::max(tokens_per_byte_, static_cast<double>(usage.input_tokens) / static_cast<double>(prompt_bytes));
    }
    std::int64_t& longest = longest_[role];
    longest = std::max(longest, usage.output_tokens);
  }

 private:
  mutable std::mutex mutex_;
  double tokens_per_byte_ = 0;
  std::map<std::optional<model::AgentRole>, std::int64_t> longest_;
};

class BudgetedChat final : public llm::ChatModel {
 public:
  BudgetedChat(llm::ChatModel& model, ChatTerms terms, Budget& budget)
      : model_(model), terms_(std::move(terms)), budget_(budget) {}

  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token stop) override {
    const auto role = model::role_of_label(request.label);
    std::size_t bytes = 0;
    for (const llm::Message& message : request.messages) bytes += message.text.size();
    const auto expected = [&] {
      model::Usage usage;
      usage.input_tokens = estimator_.prompt(bytes, request.messages.size());
      usage.output_tokens =
          estimator_.answer(role, request.max_output_tokens ? request.max_output_tokens : terms_.max_output_tokens);
      return amounts(usage);
    };
    // The reviewer is asked when the search has ended, be it by its budget.
    const bool reviewing = request.label.starts_with(std::string(model::kReviewerRole) + " ");
    TRY_ASSIGN(auto reservation,
               reviewing ? budget_.reserve_for_review(expected, stop) : budget_.reserve(expected, stop));

    std::stop_source either;
    const auto end = [&either] { either.request_stop(); };
    const std::stop_callback on_stop(stop, end);
    const std::stop_callback on_time(reviewing ? budget_.time_of_review_is_up() : budget_.time_is_up(), end);
    model::Usage lost;
    llm::ChatRequest asked = request;
    asked.on_unanswered = [&lost](const model::Usage& usage) { lost += usage; };
    if (!reviewing) asked.may_try_again = [&](const model::Usage& broken) { return reservation.grow(amounts(broken)); };
    auto reply = model_.chat(asked, either.get_token());
    if (!reply) {
      reservation.settle(amounts(lost));
      if (lost.tokens() > 0) TRY(file_unanswered(request, lost));
      return reply;
    }
    complete(reply->usage, bytes, request.messages.size(), reply->text.size());
    estimator_.learn(role, bytes, reply->usage);
    reservation.settle(amounts(reply->usage));
    return reply;
  }

  [[nodiscard]] std::string name() const override { return model_.name(); }

 private:
  /// The server had the question, and has charged for it.
  base::Result<void> file_unanswered(const llm::ChatRequest& request, model::Usage used) {
    used.calls = 1;
    used.estimated_calls = std::min<std::int64_t>(used.estimated_calls, 1);
    if (!used.usd && terms_.price) used.usd = llm::cost_usd(used, *terms_.price);
    const std::string_view who = model::asked_of_label(request.label);
    if (!who.empty()) budget_.charge(who, used);
    return terms_.keep_unanswered ? terms_.keep_unanswered(request, used) : base::Result<void>();
  }

  [[nodiscard]] Amounts amounts(const model::Usage& usage) const {
    const double usd = usage.usd ? *usage.usd : terms_.price ? llm::cost_usd(usage, *terms_.price) : 0;
    return {usage.tokens(), usd, 0};
  }

  void complete(model::Usage& usage, std::size_t prompt_bytes, std::size_t messages, std::size_t answer_bytes) const {
    const bool no_input = usage.input_tokens == 0;
    const bool no_output = usage.output_tokens == 0 && answer_bytes > 0;
    if (no_input) usage.input_tokens = estimator_.prompt(prompt_bytes, messages);
    if (no_output) usage.output_tokens = llm::estimated_tokens(answer_bytes);
    if (no_input || no_output) {
      usage.estimated_calls = std::max<std::int64_t>(usage.calls, 1);
      usage.usd.reset();
    }
    if (!usage.usd && terms_.price) usage.usd = llm::cost_usd(usage, *terms_.price);
  }

  llm::ChatModel& model_;
  ChatTerms terms_;
  Budget& budget_;
  TokenEstimator estimator_;
};

}  // namespace

std::unique_ptr<llm::ChatModel> make_budgeted_chat(llm::ChatModel& model, const ChatTerms& terms, Budget& budget) {
  return std::make_unique<BudgetedChat>(model, terms, budget);
}

}  // namespace accelopt::search
