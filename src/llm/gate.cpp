// SPDX-License-Identifier: Apache-2.0
#include "llm/gate.hpp"

#include <algorithm>
#include <utility>

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kMinute{60};
/// A server that names a later time than this, for its limits or for the next question, is not believed.
constexpr std::chrono::minutes kLongestReset{10};
/// What an answer is expected to be as long as, before any has come, tokens.
constexpr std::int64_t kFirstAnswerTokens = 1'000;
/// Characters of a prompt that make about one token.
constexpr std::int64_t kCharactersAToken = 4;

class LimitedProvider final : public ChatProvider {
 public:
  LimitedProvider(std::unique_ptr<ChatProvider> provider, std::shared_ptr<Gate> gate, milliseconds longest_wait)
      : provider_(std::move(provider)), gate_(std::move(gate)), longest_wait_(longest_wait) {}

  tl::expected<ChatReply, Failure> ask(const ChatRequest& request, std::stop_token stop) override {
    const auto permit = gate_->enter(stop, expected_tokens(request));
    if (!permit) return tl::make_unexpected(Failure{permit.error(), Again::never});
    auto reply = provider_->ask(request, stop);
    if (reply && reply->usage.input_tokens + reply->usage.output_tokens > 0) {
      permit->took(reply->usage.input_tokens + reply->usage.output_tokens);
      learn_length(reply->usage.output_tokens);
    }
    // Who asks for more is given up, and that ends no other question.
    const bool waits = !reply && reply.error().again != Again::never && reply.error().retry_after;
    if (waits && *reply.error().retry_after <= longest_wait_) gate_->hold_off(*reply.error().retry_after);
    return reply;
  }

  [[nodiscard]] std::string name() const override { return provider_->name(); }

 private:
  /// The prompt's tokens and those of an answer as long as the last ones.
  [[nodiscard]] std::int64_t expected_tokens(const ChatRequest& request) {
    std::size_t characters = 0;
    for (const Message& message : request.messages) characters += message.text.size();
    const std::scoped_lock lock(mutex_);
    return static_cast<std::int64_t>(characters) / kCharactersAToken + answer_tokens_;
  }

  void learn_length(std::int64_t tokens) {
    const std::scoped_lock lock(mutex_);
    answer_tokens_ += (tokens - answer_tokens_) / 4;
  }

  std::unique_ptr<ChatProvider> provider_;
  std::shared_ptr<Gate> gate_;
  const milliseconds longest_wait_;
  std::mutex mutex_;
  std::int64_t answer_tokens_ = kFirstAnswerTokens;
};

}  // namespace

Gate::Gate(GateLimits limits, Clock& clock, std::function<void(const std::string&)> notice)
    : limits_(limits), clock_(clock), notice_(std::move(notice)), free_(std::max(limits.places, 1)) {}

Gate::Permit::~Permit() {
  if (gate_ != nullptr) gate_->leave();
}

void Gate::Permit::took(std::int64_t tokens) const {
  if (gate_ != nullptr) gate_->correct(number_, tokens);
}

base::Result<Gate::Permit> Gate::enter(const std::stop_token& stop, std::int64_t tokens) {
  std::unique_lock lock(mutex_);
  for (;;) {
    freed_.wait(lock, stop, [this] { return free_ > 0; });
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped while waiting to ask the model");
    const Time now = clock_.now();
    const Time when = earliest(now, tokens);
    if (when <= now) break;
    const auto closed = std::chrono::ceil<milliseconds>(when - now);
    const std::string told = notice_of(now, when, tokens);
    lock.unlock();
    if (notice_ && !told.empty()) notice_(told);
    clock_.wait(closed, stop);
    lock.lock();
  }
  --free_;
  if (requests_left_) --requests_left_->remaining;
  if (tokens_left_) tokens_left_->remaining -= tokens;
  minute_.push_back({++entered_, clock_.now(), tokens});
  return Permit(*this, entered_);
}

std::string Gate::notice_of(Time now, Time until, std::int64_t tokens) {
  if (until - now < kWorthANotice || until <= opens_ || told_until_ > now) return {};
  told_until_ = until;
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(until - now).count());
  const bool own = earliest_by_minute(now, tokens) == until;
  return (own ? "requests_per_minute or tokens_per_minute is reached"
              : "the server says that its rate limit is used up") +
         std::string("; the next question is asked in ") + seconds + " s";
}

Gate::Time Gate::earliest(Time now, std::int64_t tokens) {
  if (requests_left_ && now >= requests_left_->full) requests_left_.reset();
  if (tokens_left_ && now >= tokens_left_->full) tokens_left_.reset();
  while (!minute_.empty() && minute_.front().time + kMinute <= now) minute_.pop_front();
  return std::max({opens_, earliest_by_minute(now, tokens), earliest_by_server(requests_left_, now, 1),
                   earliest_by_server(tokens_left_, now, tokens)});
}

Gate::Time Gate::earliest_by_minute(Time now, std::int64_t tokens) {
  if (minute_.empty()) return now;
  Time when = now;
  if (limits_.requests_per_minute) {
    const auto most = static_cast<std::size_t>(std::max(*limits_.requests_per_minute, 1));
    if (minute_.size() >= most) when = minute_[minute_.size() - most].time + kMinute;
  }
  if (limits_.tokens_per_minute) {
    std::int64_t taken = 0;
    for (const Entry& entry : minute_) taken += entry.tokens;
    for (const Entry& entry : minute_) {
      if (taken + tokens <= *limits_.tokens_per_minute) break;
      taken -= entry.tokens;
      when = std::max(when, entry.time + kMinute);
    }
  }
  return when;
}

Gate::Time Gate::earliest_by_server(const std::optional<Stock>& stock, Time now, std::int64_t need) {
  if (!stock) return now;
  const std::int64_t enough = stock->limit > 0 ? std::min(need, stock->limit) : need;
  return stock->remaining >= enough ? now : stock->full;
}

void Gate::hold_off(milliseconds time) {
  const std::scoped_lock lock(mutex_);
  opens_ = std::max(opens_, clock_.now() + std::min<milliseconds>(time, kLongestReset));
}

void Gate::take_in(std::optional<Stock>& stock, const ServerWindow& window, Time now) {
  if (!window.remaining || !window.reset) return;
  stock =
      Stock{*window.remaining, window.limit.value_or(0), now + std::min<milliseconds>(*window.reset, kLongestReset)};
}

void Gate::learn(const ServerLimits& limits) {
  const std::scoped_lock lock(mutex_);
  const Time now = clock_.now();
  take_in(requests_left_, limits.requests, now);
  take_in(tokens_left_, limits.tokens, now);
}

void Gate::correct(std::uint64_t number, std::int64_t tokens) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(minute_, number, &Entry::number);
  if (found != minute_.end()) found->tokens = tokens;
}

void Gate::leave() {
  {
    const std::scoped_lock lock(mutex_);
    ++free_;
  }
  freed_.notify_one();
}

std::unique_ptr<ChatProvider> make_limited_provider(std::unique_ptr<ChatProvider> provider, std::shared_ptr<Gate> gate,
                                                    milliseconds longest_wait) {
  return std::make_unique<LimitedProvider>(std::move(provider), std::move(gate), longest_wait);
}

}  // namespace accelopt::llm
