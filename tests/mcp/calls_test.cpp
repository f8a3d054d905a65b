// SPDX-License-Identifier: Apache-2.0
#include "mcp/calls.hpp"

#include <gtest/gtest.h>

#include <latch>

namespace accelopt::mcp {
namespace {

TEST(Calls, OneTooMany_IsNotBegun) {
  std::latch gate(1);
  int done = 0;
  {
    Calls calls(1);
    ASSERT_TRUE(calls.begin([&] {
      gate.wait();
      ++done;
    }));
    EXPECT_FALSE(calls.begin([&] { done += 10; }));
    gate.count_down();
  }
  EXPECT_EQ(done, 1) << "all that was begun has ended";
}

TEST(Calls, HeldBytes_ComeBackBeforeTheEnd) {
  constexpr std::size_t kAll = 100;
  constexpr int kRounds = 200;  // the end and the thread's last steps may meet in either order
  for (int round = 0; round < kRounds; ++round) {
    ByteBudget budget(kAll);
    {
      Calls calls(1);
      ASSERT_TRUE(calls.begin([held = budget.take(kAll)] { ASSERT_NE(held, nullptr); }));
    }
    ASSERT_NE(budget.take(kAll), nullptr) << "in round " << round;
  }
}

TEST(ByteBudget, BytesComeBackWithTheLastCopy) {
  ByteBudget budget(100);
  auto most = budget.take(90);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(budget.take(11), nullptr);
  auto copy = most;
  most.reset();
  EXPECT_EQ(budget.take(11), nullptr);
  copy.reset();
  EXPECT_NE(budget.take(100), nullptr);
  EXPECT_NE(budget.take(100), nullptr) << "nobody held it";
}

}  // namespace
}  // namespace accelopt::mcp
