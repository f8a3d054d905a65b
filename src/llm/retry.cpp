// SPDX-License-Identifier: Apache-2.0
#include "llm/retry.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/hash.hpp"

namespace accelopt::llm {
namespace {

using base::Error;
using base::ErrorCode;
using std::chrono::milliseconds;

class RetryingModel final : public ChatModel {
 public:
  RetryingModel(std::unique_ptr<ChatProvider> provider, RetryPolicy policy, Clock& clock)
      : provider_(std::move(provider)), policy_(policy), clock_(clock) {}

  base::Outcome<ChatReply> chat(const ChatRequest& request, std::stop_token stop) override {
    model::Usage broken;
    auto reply = try_until_answered(request, broken, stop);
    if (!reply && request.on_unanswered && broken.tokens() > 0) request.on_unanswered(broken);
    return reply;
  }

  [[nodiscard]] std::string name() const override { return provider_->name(); }

 private:
  /// `broken`: what the tries took that gave no answer.
  base::Result<ChatReply> try_until_answered(const ChatRequest& request, model::Usage& broken,
                                             const std::stop_token& stop) {
    int tries_that_cost_a_limit = 0;
    for (int tried = 1;; ++tried) {
      auto reply = provider_->ask(request, stop);
      if (reply) {
        heard_ = true;
        reply->usage += broken;  // counts no calls: the question is one, however often it was tried
        reply->usage.estimated_calls = std::min<std::int64_t>(reply->usage.estimated_calls, 1);
        reply->usage.transport_retries += tried - 1;
        return std::move(*reply);
      }
      const Failure& failure = reply.error();
      if (failure.answered) heard_ = true;
      broken += failure.used;
      if (failure.again == Again::once) ++tries_that_cost_a_limit;
      if (failure.again == Again::never) return tl::make_unexpected(failure.error);
      const int tries = heard_ ? policy_.max_tries : std::min(policy_.max_tries, policy_.max_tries_unheard);
      if (tried >= tries || tries_that_cost_a_limit > 1) return given_up(failure.error, tried);
      if (failure.retry_after > policy_.longest_retry_after) return asks_too_much(failure);
      if (failure.used.tokens() > 0 && request.may_try_again && !request.may_try_again(failure.used)) {
        return given_up(base::with_context(failure.error, "the budget has no room for another"), tried);
      }
      const milliseconds wait = wait_before_next(request.label, tried, failure);
      if (policy_.notice && (!heard_ || begins_long_wait(wait))) {
        const std::string again = heard_ ? "asked again in " + seconds_text(wait) + ", try " : "try ";
        policy_.notice(failure.error.message + " (" + again + std::to_string(tried) + " of " + std::to_string(tries) +
                       ")");
      }
      clock_.wait(wait, stop);
      if (stop.stop_requested()) {
        return base::fail(ErrorCode::cancelled, "stopped while waiting to ask " + name() + " again");
      }
    }
  }

  /// Drawn from the seed, the question and the try, so that the model needs no state that threads would share.
  [[nodiscard]] milliseconds wait_before_next(const std::string& label, int tried, const Failure& failure) const {
    milliseconds limit = policy_.first_wait;
    for (int doubled = 1; doubled < tried && limit < policy_.longest_wait; ++doubled) limit *= 2;
    limit = std::min(limit, policy_.longest_wait);
    const std::uint64_t drawn = base::derive_seed(policy_.seed, label + "#" + std::to_string(tried));
    const auto jittered = milliseconds(static_cast<milliseconds::rep>(
        drawn % (static_cast<std::uint64_t>(std::max<milliseconds::rep>(limit.count(), 0)) + 1)));
    // The server's time is a floor, and the jitter goes on top: else everybody whom it sent away returns in one
    // instant.
    return failure.retry_after ? *failure.retry_after + std::min(jittered, policy_.first_wait) : jittered;
  }

  /// Whether people should be told of this wait: it is long, and no other question's is already under way of which they
  /// were.
  bool begins_long_wait(milliseconds wait) {
    if (wait < kWorthANotice) return false;
    const auto now = clock_.now().time_since_epoch();
    auto told_until = told_until_.load();
    const auto end = std::chrono::duration_cast<milliseconds>(now + wait);
    return told_until <= std::chrono::duration_cast<milliseconds>(now) &&
           told_until_.compare_exchange_strong(told_until, end);
  }

  [[nodiscard]] static std::string seconds_text(milliseconds time) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
  }

  [[nodiscard]] static base::Result<ChatReply> given_up(const Error& last, int tried) {
    return tl::make_unexpected(base::with_context(last, "given up after " + std::to_string(tried) + " tries"));
  }

  [[nodiscard]] static base::Result<ChatReply> asks_too_much(const Failure& failure) {
    return tl::make_unexpected(base::with_context(
        failure.error, "the server asks to wait " + seconds_text(*failure.retry_after) + ", which is too long"));
  }

  std::unique_ptr<ChatProvider> provider_;
  RetryPolicy policy_;
  Clock& clock_;
  std::atomic<milliseconds> told_until_{};  ///< by the clock: when the wait ends that people were told of last
  std::atomic<bool> heard_ = false;         ///< anything, an error included, has come from the endpoint
};

}  // namespace

std::unique_ptr<ChatModel> make_retrying_model(std::unique_ptr<ChatProvider> provider, RetryPolicy policy,
                                               Clock& clock) {
  return std::make_unique<RetryingModel>(std::move(provider), policy, clock);
}

}  // namespace accelopt::llm
