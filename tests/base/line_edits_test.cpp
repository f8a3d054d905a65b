// SPDX-License-Identifier: Apache-2.0
#include "base/line_edits.hpp"

#include <gtest/gtest.h>

#include <random>

namespace accelopt::base {
namespace {

TEST(LineEdits, EachRunOfChangedLines_IsOneEdit) {
  const auto edits = line_edits("a\nb\nc\nd\ne\n", "a\nB\nc\nd\nx\ny\n");

  EXPECT_EQ(edits, (std::vector<LineEdit>{{1, 1, {"B"}}, {4, 1, {"x", "y"}}}));
}

TEST(LineEdits, OfEqualTexts_AreNone) {
  EXPECT_TRUE(line_edits("a\n", "a").empty()) << "a last line without an end is taken to have one";
}

TEST(LineEdits, IntoAnEmptyText_StandBeforeItsFirstLine) {
  const auto edits = line_edits("", "a\nb\n");
  EXPECT_EQ(edits, (std::vector<LineEdit>{{0, 0, {"a", "b"}}}));
  EXPECT_EQ(with_edits("", edits), "a\nb\n");
}

TEST(WithEdits, ASubset_LeavesTheRestAsItWas) {
  const std::string before = "a\nb\nc\nd\ne\n";
  auto edits = line_edits(before, "A\nb\nc\nd\nE\n");
  edits.erase(edits.begin());
  EXPECT_EQ(with_edits(before, edits), "a\nb\nc\nd\nE\n");
  EXPECT_EQ(with_edits(before, {}), before);
}

TEST(WithEdits, AllOfThem_GiveTheOtherText) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same texts every time
  const auto text = [&] {
    std::string out;
    for (int line = 0; line < 30; ++line)
      out += std::string(1, static_cast<char>('a' + random() % 5)) + (random() % 9 == 0 ? "-" : "") + "\n";
    return out;
  };
  for (int round = 0; round < 200; ++round) {
    const std::string before = text();
    const std::string after = text();
    EXPECT_EQ(with_edits(before, line_edits(before, after)), after);
  }
}

TEST(WithEdits, LinesThatLookLikeADiff_AreLines) {
  const std::string before = "-- a\n@@ -1 +1 @@\n";
  const std::string after = "++ b\n@@ -1 +1 @@\n\\ No newline\n";
  EXPECT_EQ(with_edits(before, line_edits(before, after)), after);
}

}  // namespace
}  // namespace accelopt::base
