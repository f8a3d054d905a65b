// SPDX-License-Identifier: Apache-2.0
// Slots of a target that keeps them: as many stay as its memory allows, the first ones before all others.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace accelopt::evaluation
