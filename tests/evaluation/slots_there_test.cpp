// SPDX-License-Identifier: Apache-2.0
// Slots of a target that keeps them: as many stay as its memory allows, the first ones before all others.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/verify/slots.hpp"
#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

constexpr std::uint64_t kSlotBytes = 3ULL << 30;  // of outputs alone a slot of this task has less than a KiB

class KeepingTarget final : public FakeTarget {
 public:
  int forgotten = 0;

  bool keeps_slots() const override { return true; }
  std::uint64_t bytes_of_slot(std::uint64_t) const override { return kSlotBytes; }
  base::Result<std::vector<Bounds>> prepare_slot(const SlotPlan&) override { return std::vector<Bounds>(1); }
  void forget_slot(std::uint64_t) override { ++forgotten; }
};

int forgotten_of(int drawn, std::uint64_t most) {
  KeepingTarget target;
  const model::Task task = fake_task();
  Slots slots(target, task, 7, 2, most);
  for (int number = 0; number < drawn; ++number) EXPECT_TRUE(slots.get(0, number));
  EXPECT_NE(slots.peek(0, 0), nullptr);
  return target.forgotten;
}

TEST(SlotsThere, WhatTheDeviceHoldsDecidesHowManyStay) {
  EXPECT_EQ(forgotten_of(60, 60 * kSlotBytes), 0);
  EXPECT_EQ(forgotten_of(60, 40 * kSlotBytes), 20);
}

/// Keeps so many slots; those that were called longest ago go first, and are made again where they are called.
class ForgetfulTarget final : public FakeTarget {
 public:
  explicit ForgetfulTarget(std::size_t most) : most_(most) {}
  int calls_made = 0;
  int made_again = 0;
  std::vector<int> drawn_before;  ///< of every call, how many were drawn since the one before

  bool keeps_slots() const override { return true; }
  std::uint64_t bytes_of_slot(std::uint64_t) const override { return kSlotBytes; }
  std::uint64_t most_slot_bytes() const override { return most_ * kSlotBytes + kSlotBytes / 2; }
  base::Result<std::vector<Bounds>> prepare_slot(const SlotPlan& plan) override {
    ++drawn_;
    need(plan.invocation.number);
    return std::vector<Bounds>(1);
  }
  base::Result<std::unique_ptr<LiveKernel>> start(const model::Kernel&, Placement, std::stop_token) override {
    return std::make_unique<Live>(*this);
  }

 private:
  class Live final : public LiveKernel {
   public:
    explicit Live(ForgetfulTarget& target) : target_(target) {}
    base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) override {
      const bool there = target_.need(invocation.number);
      CallOutcome out;
      out.time_ns = 1e6;
      out.comparisons.resize(1);
      if (options.repeat == Repeat::compare) return out;
      ++target_.calls_made;
      target_.made_again += there ? 0 : 1;
      target_.drawn_before.push_back(std::exchange(target_.drawn_, 0));
      return out;
    }

   private:
    ForgetfulTarget& target_;
  };

  /// Whether it was there.
  bool need(std::uint64_t number) {
    const auto place = std::ranges::find(there_, number);
    const bool there = place != there_.end();
    if (there) there_.erase(place);
    there_.push_back(number);
    if (there_.size() > most_) there_.erase(there_.begin());
    return there;
  }

  std::size_t most_;
  int drawn_ = 0;
  std::vector<std::uint64_t> there_;  ///< the one that was needed last at the end
};

TEST(SlotsThere, AVerificationDrawsAsManyAtOnceAsAreKept) {
  for (const auto& [most, first] : {std::pair<std::size_t, int>{4, 4}, {1, 1}, {100, 9}}) {
    ForgetfulTarget target(most);
    const auto evaluator = make_local_evaluator(target);
    MeasureSettings settings;
    settings.seed = 4711;
    settings.slots = 9;
    settings.protocol = model::Protocol::verify;
    const auto opened = evaluator->ask(Open{fake_task(), settings}, {});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->baseline.status, model::Status::passed) << opened->baseline.reason;
    EXPECT_EQ(target.calls_made, 3 * 9) << "nine of every workload";
    EXPECT_EQ(target.made_again, 0) << most;
    EXPECT_EQ(target.drawn_before.front(), first);
  }
}

}  // namespace
}  // namespace accelopt::evaluation
