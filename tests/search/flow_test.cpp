// SPDX-License-Identifier: Apache-2.0
#include "search/flow.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace accelopt::search {
namespace {

constexpr int kThreads = 6;
constexpr int kChances = 10;  ///< that a thread gets to do what it must not

void give_others_a_chance() {
  for (int i = 0; i < kChances; ++i) std::this_thread::yield();
}

/// The most of `kThreads` threads that are inside at once, each between `enter` and `leave`.
template <class Enter, class Leave>
int most_at_once(Enter enter, Leave leave) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      auto visit = enter();
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      give_others_a_chance();
      --inside;
      leave(visit);
    });
  }
  threads.clear();
  return most;
}

/// A thread that has begun to wait, and whether it waits no longer.
class Waiter {
 public:
  template <class Wait>
  explicit Waiter(Wait wait)
      : thread_([this, wait] {
          begun_ = true;
          begun_.notify_all();
          wait();
          passed_ = true;
        }) {
    begun_.wait(false);
    give_others_a_chance();
  }
  [[nodiscard]] bool passed() const { return passed_; }
  /// Ends when it no longer waits.
  void join() { thread_.join(); }

 private:
  std::atomic<bool> begun_ = false;
  std::atomic<bool> passed_ = false;
  std::jthread thread_;
};

TEST(Flow, ManyBranches_StayWithinTheLimit) {
  Flow flow(Schedule::pipeline, {.attempts = 4}, 2 * kThreads);
  const int most = most_at_once(
      [&] {
        flow.admit(2);
        return 0;
      },
      [&](int) { flow.release(2); });
  EXPECT_LE(most, 2);
}

TEST(Flow, BranchAboveTheLimit_RunsAlone) {
  Flow flow(Schedule::pipeline, {.attempts = 2}, 6);
  flow.admit(5);
  Waiter next([&] { flow.admit(1); });
  EXPECT_FALSE(next.passed());
  flow.release(5);
  next.join();
  EXPECT_TRUE(next.passed());
}

TEST(Flow, StagesSchedule_AdmitsEveryAttempt) {
  Flow flow(Schedule::stages, {.attempts = 1}, 10);
  flow.admit(5);
  flow.admit(5);  // would wait for ever under `pipeline`
}

TEST(Flow, FullDevice_HoldsQuestionsBack) {
  Flow flow(Schedule::pipeline, {.waiting = 1}, 2);
  std::optional<Flow::Judging> judging(std::in_place, flow);
  Waiter question([&] { flow.before_question({}); });
  EXPECT_FALSE(question.passed());
  judging.reset();
  question.join();
  EXPECT_TRUE(question.passed());
}

TEST(Flow, Stop_LetsWaitingQuestionsGo) {
  Flow flow(Schedule::pipeline, {.waiting = 1}, 2);
  const Flow::Judging judging(flow);
  std::stop_source stop;
  Waiter question([&] { flow.before_question(stop.get_token()); });
  EXPECT_FALSE(question.passed());
  stop.request_stop();
  question.join();
}

TEST(Flow, StagesSchedule_WaitsForTheSlowest) {
  Flow flow(Schedule::stages, {}, 2);
  Flow::Seat slow(flow);
  Flow::Seat fast(flow);
  Waiter executing([&] { fast.enter(Flow::Stage::execute()); });
  EXPECT_FALSE(executing.passed()) << "the other attempt has no plan yet";
  slow.enter(Flow::Stage::execute());
  executing.join();
}

TEST(Flow, FinishedAttempt_HoldsUpNobody) {
  Flow flow(Schedule::stages, {}, 2);
  std::optional<Flow::Seat> finished(std::in_place, flow);
  Flow::Seat other(flow);
  Waiter judging([&] { other.enter(Flow::Stage::judge(0)); });
  EXPECT_FALSE(judging.passed());
  finished.reset();
  judging.join();
}

TEST(Flow, PipelineSchedule_NeverWaitsForStages) {
  Flow flow(Schedule::pipeline, {}, 2);
  Flow::Seat slow(flow);
  Flow::Seat fast(flow);
  fast.enter(Flow::Stage::judge(3));
}

TEST(Flow, StagesSchedule_JudgesOneByOne) {
  Flow flow(Schedule::stages, {}, kThreads);
  const int most =
      most_at_once([&] { return std::make_unique<Flow::Judging>(flow); }, [](auto& judging) { judging.reset(); });
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace accelopt::search
