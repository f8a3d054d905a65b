// SPDX-License-Identifier: Apache-2.0
#include "llm/gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
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

TEST(Gate, IsClosedForTenMinutesAtMost) {
  FakeClock clock;
  Gate gate(1, clock);
  gate.hold_off(std::chrono::hours(24 * 365));
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(clock.waits(), (std::vector<milliseconds>{std::chrono::minutes(10)}));
}

class SendingAway final : public ChatProvider {
 public:
  explicit SendingAway(milliseconds time = milliseconds{3'000}) : time_(time) {}
  tl::expected<ChatReply, Failure> ask(const ChatRequest& /*request*/, std::stop_token /*stop*/) override {
    return tl::make_unexpected(Failure{{ErrorCode::rate_limited, "slow down"}, Again::yes, time_});
  }
  [[nodiscard]] std::string name() const override { return "busy"; }

 private:
  milliseconds time_;
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

TEST(LimitedProvider, AServerThatIsGivenUp_HoldsUpNobody) {
  FakeClock clock;
  const auto gate = std::make_shared<Gate>(4, clock);
  const auto planner = make_limited_provider(std::make_unique<SendingAway>(milliseconds{600'001}), gate);
  EXPECT_FALSE(planner->ask({}, {}).has_value());
  EXPECT_TRUE(gate->enter({}).has_value());
  EXPECT_TRUE(clock.waits().empty());
}

milliseconds waited(const FakeClock& clock) {
  milliseconds total{};
  for (const milliseconds wait : clock.waits()) total += wait;
  return total;
}

TEST(Gate, LetsSoManyRequestsAMinuteIn) {
  FakeClock clock;
  Gate gate({.places = 100, .requests_per_minute = 3}, clock);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), milliseconds(0));
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), milliseconds(60'000)) << "until the first is a minute ago";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), milliseconds(60'000)) << "the second and the third are as old";
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), milliseconds(120'000));
}

TEST(Gate, NeverLetsMoreThanItsLimitIntoAnySixtySeconds) {
  FakeClock clock;
  Gate gate({.places = 100, .requests_per_minute = 7, .tokens_per_minute = 1'000}, clock);
  std::vector<std::pair<std::chrono::steady_clock::time_point, std::int64_t>> entered;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t tokens = 10 + (i * 37) % 400;
    ASSERT_TRUE(gate.enter({}, tokens).has_value());
    entered.emplace_back(clock.now(), tokens);
    if (i % 5 == 0) clock.wait(milliseconds(i * 11), {});
  }
  for (std::size_t first = 0; first < entered.size(); ++first) {
    std::int64_t tokens = 0;
    int count = 0;
    for (std::size_t i = first; i < entered.size(); ++i) {
      if (entered[i].first - entered[first].first >= std::chrono::seconds(60)) break;
      tokens += entered[i].second;
      ++count;
    }
    EXPECT_LE(count, 7) << "from entry " << first;
    EXPECT_LE(tokens, 1'000) << "from entry " << first;
  }
}

TEST(Gate, CountsWhatAQuestionTookInTruth) {
  FakeClock clock;
  Gate gate({.places = 100, .tokens_per_minute = 1'000}, clock);
  {
    const auto permit = gate.enter({}, 900);
    ASSERT_TRUE(permit.has_value());
    permit->took(100);
  }
  ASSERT_TRUE(gate.enter({}, 900).has_value());
  EXPECT_EQ(waited(clock), milliseconds(0));
  ASSERT_TRUE(gate.enter({}, 1).has_value());
  EXPECT_EQ(waited(clock), milliseconds(60'000));
}

TEST(Gate, AQuestionThatIsLargerThanTheLimitGoesAlone) {
  FakeClock clock;
  Gate gate({.places = 100, .tokens_per_minute = 1'000}, clock);
  ASSERT_TRUE(gate.enter({}, 5'000).has_value());
  EXPECT_EQ(waited(clock), milliseconds(0));
  ASSERT_TRUE(gate.enter({}, 5'000).has_value());
  EXPECT_EQ(waited(clock), milliseconds(60'000));
}

TEST(Gate, WaitsForAServerThatSaysNothingIsLeft) {
  FakeClock clock;
  Gate gate(100, clock);
  gate.learn({.requests = {.limit = 10, .remaining = 2, .reset = milliseconds(30'000)}});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), milliseconds(0));
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), milliseconds(30'000));
  gate.learn({.tokens = {.limit = 10'000, .remaining = 500, .reset = milliseconds(5'000)}});
  ASSERT_TRUE(gate.enter({}, 400).has_value());
  EXPECT_EQ(waited(clock), milliseconds(30'000));
  ASSERT_TRUE(gate.enter({}, 400).has_value());
  EXPECT_EQ(waited(clock), milliseconds(35'000));
}

TEST(Gate, LongWaitForALimit_IsToldOnce) {
  FakeClock clock;
  std::vector<std::string> told;
  Gate gate({.places = 100, .requests_per_minute = 1}, clock,
            [&told](const std::string& text) { told.push_back(text); });
  gate.learn({.requests = {.limit = 10, .remaining = 0, .reset = milliseconds(9'000)}});
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_TRUE(told.empty()) << "short";
  gate.learn({.requests = {.limit = 10, .remaining = 0, .reset = milliseconds(90'000)}});
  clock.on_wait([&] {
    clock.on_wait({});
    clock.set_back(milliseconds(80'000));  // another question comes meanwhile
    ASSERT_TRUE(gate.enter({}).has_value());
  });
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(told.at(0), "the server says that its rate limit is used up; the next question is asked in 90 s");
  const std::size_t before = told.size();
  EXPECT_EQ(std::ranges::count(told, told.at(0)), 1);
  ASSERT_TRUE(gate.enter({}).has_value());
  ASSERT_EQ(told.size(), before + 1);
  EXPECT_EQ(told.back(), "requests_per_minute or tokens_per_minute is reached; the next question is asked in 60 s");
  gate.hold_off(milliseconds(100'000));
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(told.size(), before + 1) << "the question that was sent away has told";
}

TEST(Gate, DoesNotBelieveAServerThatWouldBeWaitedForWithoutEnd) {
  FakeClock clock;
  Gate gate(1, clock);
  gate.learn({.requests = {.limit = 10, .remaining = 0, .reset = std::chrono::hours(1'000)}});
  ASSERT_TRUE(gate.enter({}).has_value());
  EXPECT_EQ(waited(clock), std::chrono::minutes(10));
}

TEST(Gate, AStopEndsTheWaitForTheMinute) {
  const auto clock = make_clock();
  Gate gate({.places = 100, .requests_per_minute = 1}, *clock);
  ASSERT_TRUE(gate.enter({}).has_value());
  std::stop_source stop;
  const auto start = std::chrono::steady_clock::now();
  std::jthread stopper([&stop] { stop.request_stop(); });
  const auto refused = gate.enter(stop.get_token());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace accelopt::llm
