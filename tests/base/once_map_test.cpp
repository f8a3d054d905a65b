// SPDX-License-Identifier: Apache-2.0
#include "base/once_map.hpp"

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

/// How often a key's value was made, in a map that keeps ten bytes of numbers that take as many as they say.
struct Bounded : testing::Test {
  OnceMap<int> map{10, [](int value) { return static_cast<std::uint64_t>(value); }};
  int made = 0;
  int get(const std::string& key, int value) {
    const auto found = map.get(key, [&]() -> Result<std::shared_ptr<const int>> {
      ++made;
      return std::make_shared<const int>(value);
    });
    return found ? **found : -1;
  }
};

TEST_F(Bounded, WhatWasAskedForLast_Stays) {
  get("a", 4);
  get("b", 4);
  EXPECT_EQ(get("a", 9), 4) << "it is kept";
  get("c", 4);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(map.find("b"), nullptr);
  EXPECT_EQ(*map.find("a"), 4);
  EXPECT_EQ(get("b", 4), 4);
  EXPECT_EQ(made, 4);
}

TEST_F(Bounded, OneThatIsTooLarge_IsKeptAlone) {
  get("a", 4);
  EXPECT_EQ(get("large", 11), 11);
  EXPECT_EQ(map.find("a"), nullptr);
  EXPECT_EQ(get("large", 0), 11);
  get("b", 1);
  EXPECT_EQ(map.find("large"), nullptr);
  EXPECT_NE(map.find("b"), nullptr);
}

TEST_F(Bounded, WhatIsPut_TakesThePlaceOfTheLast) {
  map.put("a", std::make_shared<const int>(6));
  map.put("a", std::make_shared<const int>(5));
  map.put("b", std::make_shared<const int>(5));
  EXPECT_EQ(*map.find("a"), 5);
  EXPECT_EQ(*map.find("b"), 5);
}

}  // namespace
}  // namespace accelopt::base
