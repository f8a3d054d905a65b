// SPDX-License-Identifier: Apache-2.0
#include "review/normalize.hpp"

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

std::string shown(const char* language, std::string_view source) {
  return normalized(refactor::code_language(language), source);
}

TEST(Normalized, PythonLayoutAndComments_MakeNoDifference) {
  const char* plain = "def f(a, b):\n    if a == b:\n        return [a, b]\n    return g(a)[0]\n";
  const char* dressed =
      "# by the maintainer\n\ndef f( a,b ):  # checked\n  \"\"\"Proved.\"\"\"\n  if a==b:\n\n      return [a,\n        "
      "      b]\n"
      "  return g (a) [0]\n";
  EXPECT_EQ(shown("python", dressed), shown("python", plain));
  EXPECT_EQ(shown("python", plain), plain);
}

TEST(Normalized, PythonStrings_StayAsTheyAre) {
  EXPECT_EQ(shown("python", "x = 'a  # b'\ny = f\"{x}  \"\n"), "x = 'a  # b'\ny = f\"{x}  \"\n");
  EXPECT_EQ(shown("python", "x = '''a\n  b'''\n"), "x = '''a\n  b'''\n");
}

TEST(Normalized, PythonBlockOfDocumentation_KeepsAStatement) {
  EXPECT_EQ(shown("python", "class A(B):\n    \"\"\"Text.\"\"\"\n\n\ndef f():\n    return 1\n"),
            "class A(B):\n    pass\ndef f():\n    return 1\n");
}

TEST(Normalized, BracesLayoutAndComments_MakeNoDifference) {
  const char* dressed = "/* proved */ int f(int a)\n{ // fast\n  if(a>=0){return a;}\n  return -a; }\n";
  EXPECT_EQ(shown("c", dressed), "int f(int a) {\n    if (a >= 0) {\n        return a;\n    }\n    return - a;\n}\n");
  EXPECT_EQ(shown("c", "#include <a.h>\nlong x=1;\n"), "#include <a.h>\nlong x = 1;\n");
  EXPECT_EQ(shown("javascript", "const a = 1 // one\nfor (let i=0;i<3;i++) { b(i) }\n"),
            "const a = 1\nfor (let i = 0; i < 3; i++) {\n    b(i)\n}\n");
}

TEST(Normalized, OtherLanguage_KeepsItsLines) {
  EXPECT_EQ(shown("fortran", "a = 1   \n\n! b\n"), "a = 1\n! b\n");
}

TEST(NormalizedDiff, FilesByPath_CountsChangedLines) {
  const std::string diff = normalized_diff({{"a", "1\n2\n"}}, {{"a", "1\n3\n"}, {"b", "4\n"}});
  EXPECT_NE(diff.find("--- old/a\n"), std::string::npos);
  EXPECT_NE(diff.find("+4\n"), std::string::npos);
  EXPECT_EQ(changed_lines(diff), 3);
}

}  // namespace
}  // namespace accelopt::review
