// SPDX-License-Identifier: Apache-2.0
#include "syntax/text.hpp"

#include <gtest/gtest.h>

namespace accelopt::syntax {
namespace {

TEST(Text, Includes) {
  const std::string source = "#include <cmath>\n  #  include \"task.h\" // own\nconst char* s = \"#include <x>\";\n";
  const auto found = includes_of(source);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "<cmath>");
  EXPECT_EQ(found[1].name, "\"task.h\"");
  EXPECT_EQ(source.substr(found[0].line.begin, found[0].line.size()), "#include <cmath>");
}

TEST(Text, IncludesEndWithTheCommentsThatBeginOnTheirLine) {
  const std::string source = "#include <cmath>  /* roots,\n                     of course */\nint a;\n";
  const auto found = includes_of(source);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(source.substr(found[0].line.end), "\nint a;\n");
}

TEST(Text, SemicolonsAndNames) {
  EXPECT_EQ(past_semicolon("a /* x */ ; b", 1), 11U);
  EXPECT_EQ(past_semicolon("a + b;", 1), 1U);
  EXPECT_EQ(end_of_name("MAX(a, (b)) + 1", 0), 11U);
  EXPECT_EQ(end_of_name("INFINITY;", 0), 8U);
}

}  // namespace
}  // namespace accelopt::syntax
