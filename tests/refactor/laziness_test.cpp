// SPDX-License-Identifier: Apache-2.0
#include "refactor/laziness.hpp"

#include <gtest/gtest.h>

namespace accelopt::refactor {
namespace {

std::string told(const std::string& calls) {
  return "words\nreads before results: " + calls + "\n";
}

TEST(EagerReads, AllBeforeTheFirstResult_Told) {
  EXPECT_EQ(
      eager_reads(told("[[[17, 1, 2, true]]]"), told("[[[17, 17, 17, true]]]")),
      "the iterator is less lazy: before its first result the new code read all 17 items of a list, the old code 1; "
      "where that is meant, take reads() out of the driver");
  EXPECT_NE(eager_reads(told("[null, [[4, 4, 4, true], [17, 0, 1, true]]]"),
                        told("[null, [[4, 4, 4, true], [17, 1, 17, false]]]"))
                .find("before its second result"),
            std::string::npos);
}

TEST(EagerReads, LazierOrNearlyAsLazy_Nothing) {
  EXPECT_EQ(eager_reads(told("[[[17, 17, 17, true]]]"), told("[[[17, 1, 2, true]]]")), "");
  EXPECT_EQ(eager_reads(told("[[[17, 1, 2, true]]]"), told("[[[17, 2, 3, true]]]")), "") << "one item ahead";
  EXPECT_EQ(eager_reads(told("[[[3, 1, 2, true]]]"), told("[[[3, 3, 3, true]]]")), "") << "too short to tell";
}

TEST(EagerReads, NoStreamOfTheOldCode_Nothing) {
  EXPECT_EQ(eager_reads(told("[[[17, 2, 3, false]]]"), told("[[[17, 17, 17, true]]]")), "") << "each pair of items";
}

TEST(EagerReads, WhatIsNotKnown_Nothing) {
  const std::string lazy = told("[[[17, 1, 2, true]]]");
  const std::string eager = told("[[[17, 17, 17, true]]]");
  for (const std::string& other : {std::string(), std::string("words\n"), told("[null]"), told("[]"), told("7"),
                                   told("{"), told("[[[1, 2]]]"), told("[[[17, 17, 17, 1]]]")}) {
    EXPECT_EQ(eager_reads(other, eager), "") << other;
    EXPECT_EQ(eager_reads(lazy, other), "") << other;
    EXPECT_FALSE(tells_reads(other)) << other;
  }
  EXPECT_TRUE(tells_reads(lazy));
  EXPECT_FALSE(tells_reads(told("[[[17, 2, 3, false]]]")));
}

}  // namespace
}  // namespace accelopt::refactor
