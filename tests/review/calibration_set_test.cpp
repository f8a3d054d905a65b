// SPDX-License-Identifier: Apache-2.0
#include "review/calibration_set.hpp"

#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

TEST(BundledPairs, SixtyOfFifteenKinds_EveryKindBeforeAnyTwice) {
  const auto pairs = bundled_pairs(1000);
  ASSERT_TRUE(pairs.has_value()) << pairs.error().message;
  EXPECT_EQ(pairs->size(), 60U);
  std::map<std::string, int> kinds;
  std::set<std::string> languages;
  for (const CalibrationPair& pair : *pairs) {
    ++kinds[pair.kind];
    languages.insert(pair.language.name);
    EXPECT_NE(shown_diff(pair, pair.clean), shown_diff(pair, pair.planted)) << pair.name;
  }
  EXPECT_EQ(kinds.size(), 15U);
  EXPECT_EQ(languages, (std::set<std::string>{"c", "javascript", "python"}));
  std::set<std::string> first;
  const auto some = bundled_pairs(15);
  for (const CalibrationPair& pair : *some) first.insert(pair.kind);
  EXPECT_EQ(first.size(), 15U);
}

TEST(BundledPairs, FolderOfPairs_IsBuiltInWhole) {
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(ACCELOPT_CALIBRATION "/pairs"))
    there.insert(entry.path().stem());
  std::set<std::string> built_in;
  const auto pairs = bundled_pairs(1000);
  for (const CalibrationPair& pair : *pairs) built_in.insert(pair.name);
  EXPECT_EQ(built_in, there);
}

TEST(ParseCalibrationPair, MissingPart_IsNamed) {
  const std::string head = "kind: off-by-one\nlanguage: python\nfunction: f\n==== base\nx\n==== clean\ny\n";
  const auto pair = parse_calibration_pair("off-by-one-9", head + "==== planted\nz\n==== common\n[]\n");
  ASSERT_FALSE(pair.has_value());
  EXPECT_NE(pair.error().message.find("witness"), std::string::npos);
  EXPECT_FALSE(parse_calibration_pair("x", "kind: a\n").has_value());
}

TEST(BaitedDiff, EachBait_ShowsAndChangesNothingElse) {
  const auto pairs = bundled_pairs(1);
  const CalibrationPair& pair = pairs->front();
  const std::string clean = shown_diff(pair, pair.clean);
  EXPECT_NE(baited_diff(pair, Bait::own, "model-x").find("model-x"), std::string::npos);
  EXPECT_TRUE(baited_diff(pair, Bait::author, "").ends_with(clean));
  EXPECT_NE(baited_diff(pair, Bait::comment, ""), clean);
  EXPECT_NE(baited_diff(pair, Bait::dead_code, "").find("validated"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::review
