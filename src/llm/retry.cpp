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
      if (!heard_ && policy_.notice) {
        policy_.notice(failure.error.message + " (try " + std::to_string(tried) + " of " + std::to_string(tries) + ")");
      }
      clock_.wait(wait_before_next(request.label, tried, failure), stop);
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

  [[nodiscard]] static base::Result<ChatReply> given_up(const Error& last, int tried) {
    return tl::make_unexpected(base::with_context(last, "given up after " + std::to_string(tried) + " tries"));
  }

  [[nodiscard]] static base::Result<ChatReply> asks_too_much(const Failure& failure) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*failure.retry_after).count();
    return tl::make_unexpected(base::with_context(
        failure.error, "the server asks to wait " + std::to_string(seconds) + " s, which is too long"));
  }

  std::unique_ptr<ChatProvider> provider_;
  RetryPolicy policy_;
  Clock& clock_;
  std::atomic<bool> heard_ = false;  ///< anything, an error included, has come from the endpoint
};

}  // namespace

std::unique_ptr<ChatModel> make_retrying_model(std::unique_ptr<ChatProvider> provider, RetryPolicy policy,
                                               Clock& clock) {
  return std::make_unique<RetryingModel>(std::move(provider), policy, clock);
}

}  // namespace accelopt::llm
