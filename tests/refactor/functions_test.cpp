// SPDX-License-Identifier: Apache-2.0
#include "refactor/functions.hpp"

#include <gtest/gtest.h>

namespace accelopt::refactor {
namespace {

constexpr std::string_view kSource =
    "import re\n"            // 0
    "\n"                     // 1
    "class Box:\n"           // 2
    "    @property\n"        // 3
    "    def size(self):\n"  // 4
    "        return 1\n"     // 5
    "\n"                     // 6
    "def f(a,\n"             // 7
    "      b=(1,\n"          // 8
    "2)):\n"                 // 9
    "    text = \"\"\"\n"    // 10
    "def g():\n"             // 11
    "\"\"\"\n"               // 12
    "    # def h():\n"       // 13
    "    return text\n"      // 14
    "# after\n"              // 15
    "x = f(1)\n";            // 16

base::Result<FunctionPlace> in_python(std::string_view source, std::string_view name) {
  return find_function(code_language("python"), source, name);
}

TEST(FindFunction, MethodWithDecorator_HasItsLines) {
  const auto place = in_python(kSource, "Box.size");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->first, 3U);
  EXPECT_EQ(place->header, 4U);
  EXPECT_EQ(place->last, 6U);
}

TEST(FindFunction, CommentsBehindIt_AreItsOwnAsFarAsTheyAreIndented) {
  constexpr std::string_view source =
      "class Box:\n"                 // 0
      "    def size(self):\n"        // 1
      "        def inner():\n"       // 2
      "            return 1\n"       // 3
      "            # of inner\n"     // 4
      "\n"                           // 5
      "        # of size\n"          // 6
      "    # of Box\n"               // 7
      "    def other(self):\n"       // 8
      "        return 2\n"           // 9
      "        # the file's end\n";  // 10
  EXPECT_EQ(in_python(source, "Box.size.inner")->last, 5U);
  EXPECT_EQ(in_python(source, "Box.size")->last, 7U);
  EXPECT_EQ(in_python(source, "Box.other")->last, 11U);
}

TEST(FindFunction, HeaderOfSeveralLines_EndsBeforeTheBody) {
  const auto place = in_python(kSource, "f");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->header, 7U);
  EXPECT_EQ(place->body, 10U);
  EXPECT_EQ(place->last, 15U);
}

TEST(FindFunction, TextInAString_IsNoFunction) {
  EXPECT_FALSE(in_python(kSource, "g"));
  EXPECT_FALSE(in_python(kSource, "h"));
}

TEST(FindFunction, UnknownName_NamesANearOne) {
  const auto place = in_python(kSource, "Box.sise");
  ASSERT_FALSE(place);
  EXPECT_NE(place.error().message.find("Box.size"), std::string::npos) << place.error().message;
}

TEST(FindFunction, UnknownNameOfAFunctionInside_IsNamedFirstAndFewOthers) {
  std::string source;
  for (int i = 0; i < 500; ++i) source += "def f" + std::to_string(i) + "():\n  pass\n";
  const auto place = in_python(source + "def outer():\n  def unique():\n    pass\n", "unique");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().message,
            "unknown function \"unique\"; known are outer.unique, f0, f1, f2, f3, f4, f5, f6, f7, f8 and 492 more");
}

TEST(EnclosingFunction, OfAFunctionInside_IsTheOuterOne) {
  const auto all =
      functions_of(code_language("javascript"),
                   "function Box() {\n  function inner() {\n  }\n}\nBox.prototype.size = function () {\n};\n"
                   "class A {\n  m() {\n  }\n}\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(enclosing_function(all, all[1]), "Box");
  for (const std::size_t at : {0U, 2U, 3U}) EXPECT_EQ(enclosing_function(all, all[at]), "") << all[at].name;
}

TEST(FindFunction, TwoOfAName_AreRefused) {
  const auto place = in_python("def f():\n  pass\ndef f():\n  pass\n", "f");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace accelopt::refactor
