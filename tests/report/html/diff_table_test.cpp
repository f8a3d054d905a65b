// SPDX-License-Identifier: Apache-2.0
#include "report/html/diff_table.hpp"

#include <gtest/gtest.h>

#include "base/unified_diff.hpp"

namespace accelopt::report::html {
namespace {

std::vector<std::string> shown(const std::string& before, const std::string& after) {
  std::vector<std::string> lines;
  for (const DiffRow& row : side_by_side(base::unified_diff(before, after, "a", "b"))) {
    lines.push_back(row.gap ? "..."
                            : std::to_string(row.before_number) + " " + row.before + (row.changed ? " | " : " = ") +
                                  std::to_string(row.after_number) + " " + row.after);
  }
  return lines;
}

TEST(SideBySide, AChangedLine_StandsBesideWhatItBecame) {
  EXPECT_EQ(shown("a\nb\nc\n", "a\nB\nc\n"), (std::vector<std::string>{"1 a = 1 a", "2 b | 2 B", "3 c = 3 c"}));
}

TEST(SideBySide, AddedLines_StandBesideNothing) {
  EXPECT_EQ(shown("a\nb\n", "a\nx\ny\nb\n"),
            (std::vector<std::string>{"1 a = 1 a", "0  | 2 x", "0  | 3 y", "2 b = 4 b"}));
}

TEST(SideBySide, ChangesFarApart_HaveAGapBetween) {
  std::string before;
  for (int line = 1; line <= 30; ++line) before += std::to_string(line) + "\n";
  std::string after = before;
  after.replace(after.find("10\n"), 3, "ten\n");
  after.replace(after.find("25\n"), 3, "five\n");

  const auto lines = shown(before, after);

  EXPECT_EQ(std::count(lines.begin(), lines.end(), "..."), 2) << "before each change";
  EXPECT_NE(std::find(lines.begin(), lines.end(), "10 10 | 10 ten"), lines.end());
  EXPECT_NE(std::find(lines.begin(), lines.end(), "25 25 | 25 five"), lines.end());
}

TEST(SideBySide, LinesThatLookLikeHeaders_AreLines) {
  EXPECT_EQ(shown("-- x\n", "++ y\n"), (std::vector<std::string>{"1 -- x | 1 ++ y"}));
}

TEST(SideBySide, ALastLineWithoutAnEnd_IsNoLineOfItsOwn) {
  EXPECT_EQ(shown("a", "b"), (std::vector<std::string>{"1 a | 1 b"}));
}

TEST(SideBySide, EqualTexts_HaveNoRows) {
  EXPECT_TRUE(shown("a\n", "a\n").empty());
  EXPECT_NE(diff_table("a\n", "a\n", "c", "x", "y").source().find("the same text"), std::string::npos);
}

TEST(DiffTable, MarkupInALine_StaysText) {
  const std::string table = diff_table("a\n", "</td><script>\n", "c", "x", "y").source();
  EXPECT_EQ(table.find("<script>"), std::string::npos);
  EXPECT_NE(table.find("&lt;/td&gt;&lt;script&gt;"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::report::html
