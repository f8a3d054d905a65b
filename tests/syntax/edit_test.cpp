// SPDX-License-Identifier: Apache-2.0
#include "syntax/edit.hpp"

#include "syntax/parsing.hpp"

namespace accelopt::syntax {
namespace {

TEST(Edits, ReplaceAndInsertInOrder) {
  Edits edits;
  edits.replace({4, 5}, "xyz");
  edits.insert(0, "1");
  edits.insert(0, "2");
  EXPECT_EQ(*edits.apply("abc d e"), "12abc xyz e");
}

TEST(Edits, OverlapAndOutsideAreRefused) {
  Edits overlap;
  overlap.replace({0, 3}, "");
  overlap.replace({2, 4}, "");
  ASSERT_FALSE(overlap.apply("abcdef").has_value());
  EXPECT_EQ(overlap.apply("abcdef").error().code, base::ErrorCode::invalid_argument);
  Edits outside;
  outside.replace({2, 9}, "");
  EXPECT_FALSE(outside.apply("abc").has_value());
}

TEST(Edits, NamesAreReplacedByDeclarationNotBySpelling) {
  const Unit unit =
      read("void f(float* y, int n) { for (int i = 0; i < n; ++i) y[i] = i; for (int i = 0; i < n; ++i) y[i] += i; }");
  const Function& function = unit.functions.at(0);
  const Statement& second = function.block.children.at(1);
  const std::string text =
      with_names(unit, function, second.children.at(0).extent, {{second.loop->declaration, "(i + 1)"}});
  EXPECT_EQ(text, "y[(i + 1)] += (i + 1);");
  EXPECT_EQ(with_names(unit, function, function.block.children.at(0).children.at(0).extent,
                       {{second.loop->declaration, "z"}}),
            "y[i] = i;");
}

TEST(Indentation, OfALine) {
  EXPECT_EQ(indentation_at("a\n   b", 5), "   ");
  EXPECT_EQ(indentation_at("  a", 2), "  ");
  EXPECT_EQ(indentation_at("ab", 1), "");
}

}  // namespace
}  // namespace accelopt::syntax
