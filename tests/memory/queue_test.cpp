// SPDX-License-Identifier: Apache-2.0
#include "memory/queue.hpp"

#include <gtest/gtest.h>

#include <set>

namespace accelopt::memory {
namespace {

model::Experience experience(const std::string& id) {
  model::Experience made;
  made.id = id;
  return made;
}

std::vector<std::string> ids(const Queue& queue) {
  std::vector<std::string> out;
  for (const auto& item : queue) out.push_back(item.id);
  return out;
}

TEST(Push, PutsTheNewestFirstAndDropsTheOldest) {
  const Queue older{experience("c"), experience("b"), experience("a")};
  EXPECT_EQ(ids(push(older, {experience("e"), experience("d")}, 4)), (std::vector<std::string>{"e", "d", "c", "b"}));
}

TEST(Push, HoldsNothingAtCapacityZero) {
  EXPECT_TRUE(push({experience("a")}, {experience("b")}, 0).empty());
}

TEST(PushAsPublished, KeepsTheNewAndDrawsTheOldByTheSeedAlone) {
  Queue older;
  for (int i = 0; i < 20; ++i) older.push_back(experience("old" + std::to_string(i)));
  const auto first = ids(push_as_published(older, {experience("new")}, 5, 1));
  ASSERT_EQ(first.size(), 5U);
  EXPECT_EQ(first[0], "new");
  EXPECT_EQ(first, ids(push_as_published(older, {experience("new")}, 5, 1)));
  std::set<std::vector<std::string>> draws;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    draws.insert(ids(push_as_published(older, {experience("new")}, 5, seed)));
  EXPECT_GT(draws.size(), 1U);
}

}  // namespace
}  // namespace accelopt::memory
