// SPDX-License-Identifier: Apache-2.0
#include "llm/gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "fakes/fake_clock.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using fakes::FakeClock;
using std::chrono::milliseconds;

TEST(Gate, LetsNoMoreInThanItHasPlaces) {
  FakeClock clock;
  Gate gate(3, clock);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 12; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const auto permit = gate.enter({});
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --inside;
        }
      });
    }
  }
  EXPECT_LE(most, 3);
  EXPECT_EQ(inside, 0);
}

TEST(Gate, LetsAsManyInAsItHasPlaces) {
  FakeClock clock;
  Gate gate(3, clock);
  std::barrier all_inside(3);
  std::atomic<int> passed = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const auto permit = gate.enter({});
      all_inside.arrive_and_wait();  // returns only when three are inside together
      ++passed;
    });
  }
  threads.clear();
  EXPECT_EQ(passed, 3);
}

TEST(Gate, AStopEndsTheWaitForAPlace) {
  FakeClock clock;
  Gate gate(1, clock);
  const auto held = gate.enter({});
  ASSERT_TRUE(held.has_value());
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  const auto refused = gate.enter(stop.get_token());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::cancelled);
}

TEST(Gate, StaysClosedForAsLongAsAsked) {
  FakeClock clock;
  Gate gate(2, clock);
  gate.hold_off(milliseconds{500});
  gate.hold_off(milliseconds{100});  // shorter than what was asked before
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(clock.waits(), (std::vector<milliseconds>{milliseconds{500}}));
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(clock.waits().size(), 1U) << "open again";
}

class SendingAway final : public ChatProvider {
 public:
  tl::expected<ChatReply, Failure> ask(const ChatRequest& /*request*/, std::stop_token /*stop*/) override {
    return tl::make_unexpected(Failure{{ErrorCode::rate_limited, "slow down"}, Again::yes, milliseconds{3'000}});
  }
  [[nodiscard]] std::string name() const override { return "busy"; }
};

TEST(LimitedProvider, AServerThatSendsOneAwayIsLeftAloneByAll) {
  FakeClock clock;
  auto gate = std::make_shared<Gate>(4, clock);
  const auto planner = make_limited_provider(std::make_unique<SendingAway>(), gate);
  const auto executor = make_limited_provider(std::make_unique<SendingAway>(), gate);
  EXPECT_EQ(planner->name(), "busy");
  EXPECT_FALSE(planner->ask({}, {}).has_value());
  EXPECT_TRUE(clock.waits().empty());
  EXPECT_FALSE(executor->ask({}, {}).has_value());
  EXPECT_EQ(clock.waits(), (std::vector<milliseconds>{milliseconds{3'000}}));
}

}  // namespace
}  // namespace accelopt::llm
