// SPDX-License-Identifier: Apache-2.0
#include "llm/gate.hpp"

#include <algorithm>
#include <utility>

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

class LimitedProvider final : public ChatProvider {
 public:
  LimitedProvider(std::unique_ptr<ChatProvider> provider, std::shared_ptr<Gate> gate)
      : provider_(std::move(provider)), gate_(std::move(gate)) {}

  tl::expected<ChatReply, Failure> ask(const ChatRequest& request, std::stop_token stop) override {
    const auto permit = gate_->enter(stop);
    if (!permit) return tl::make_unexpected(Failure{permit.error(), Again::never});
    auto reply = provider_->ask(request, stop);
    if (!reply && reply.error().again != Again::never && reply.error().retry_after) {
      gate_->hold_off(*reply.error().retry_after);
    }
    return reply;
  }

  [[nodiscard]] std::string name() const override { return provider_->name(); }

 private:
  std::unique_ptr<ChatProvider> provider_;
  std::shared_ptr<Gate> gate_;
};

}  // namespace

Gate::Gate(int places, Clock& clock) : clock_(clock), free_(std::max(places, 1)) {}

Gate::Permit::~Permit() {
  if (gate_ != nullptr) gate_->leave();
}

base::Result<Gate::Permit> Gate::enter(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    freed_.wait(lock, stop, [this] { return free_ > 0; });
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped while waiting to ask the model");
    const auto now = clock_.now();
    if (now >= opens_) break;
    const auto closed = std::chrono::ceil<milliseconds>(opens_ - now);
    lock.unlock();
    clock_.wait(closed, stop);
    lock.lock();
  }
  --free_;
  return Permit(*this);
}

void Gate::hold_off(milliseconds time) {
  const std::scoped_lock lock(mutex_);
  opens_ = std::max(opens_, clock_.now() + time);
}

void Gate::leave() {
  {
    const std::scoped_lock lock(mutex_);
    ++free_;
  }
  freed_.notify_one();
}

std::unique_ptr<ChatProvider> make_limited_provider(std::unique_ptr<ChatProvider> provider,
                                                    std::shared_ptr<Gate> gate) {
  return std::make_unique<LimitedProvider>(std::move(provider), std::move(gate));
}

}  // namespace accelopt::llm
