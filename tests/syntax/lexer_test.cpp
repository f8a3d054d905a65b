// SPDX-License-Identifier: Apache-2.0
#include "syntax/lexer.hpp"

#include <gtest/gtest.h>

namespace accelopt::syntax {
namespace {

std::vector<std::string> texts(std::string_view source) {
  std::vector<std::string> result;
  for (const Token& token : tokens(source)) result.push_back(token.text);
  return result;
}

using Texts = std::vector<std::string>;

TEST(Lexer, CommentsAndLayoutDoNotCount) {
  EXPECT_EQ(texts("int  a=1; // one\n/* two */ int b;"), texts("int a = 1;\nint b ;"));
  EXPECT_EQ(texts("a+ +b"), (Texts{"a", "+", "+", "b"}));
  EXPECT_EQ(texts("a++b"), (Texts{"a", "++", "b"}));
}

TEST(Lexer, NumbersAreWhole) {
  EXPECT_EQ(texts("1.5e-3f 0x1p+2 1'000 .5 x.y"), (Texts{"1.5e-3f", "0x1p+2", "1'000", ".5", "x", ".", "y"}));
}

TEST(Lexer, StringsHideWhatLooksLikeComments) {
  EXPECT_EQ(texts(R"(f("// no", '"', "a\"b"))"), (Texts{"f", "(", "\"// no\"", ",", "'\"'", ",", "\"a\\\"b\"", ")"}));
  EXPECT_EQ(texts("R\"x(a)\" /* )x\";"), (Texts{"R\"x(a)\" /* )x\"", ";"}));
}

TEST(Lexer, PreprocessorLinesAndDirectivesAreKept) {
  const auto found = tokens("//@ flags   -O2\n#define  A \\\n  1 // one\nint a;\n#pragma omp for");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].kind, TokenKind::directive);
  EXPECT_EQ(found[0].text, "//@ flags -O2");
  EXPECT_EQ(found[1].kind, TokenKind::preprocessor);
  EXPECT_EQ(found[1].text, "#define A 1");
  EXPECT_EQ(found[5].text, "#pragma omp for");
  EXPECT_EQ(texts("a # b"), (Texts{"a", "#", "b"})) << "a number sign inside a line begins no preprocessor line";
}

TEST(Lexer, UnterminatedLiteralsEndWithTheText) {
  EXPECT_EQ(texts("a \"b"), (Texts{"a", "\"b"}));
  EXPECT_EQ(texts("a /* b"), (Texts{"a"}));
  EXPECT_EQ(texts("R\"(a"), (Texts{"R\"(a"}));
}

TEST(Lexer, Includes) {
  const std::string source = "#include <cmath>\n  #  include \"task.h\" // own\nconst char* s = \"#include <x>\";\n";
  const auto found = includes_of(source);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "<cmath>");
  EXPECT_EQ(found[1].name, "\"task.h\"");
  EXPECT_EQ(source.substr(found[0].line.begin, found[0].line.size()), "#include <cmath>");
}

TEST(Lexer, SemicolonsAndNames) {
  EXPECT_EQ(past_semicolon("a /* x */ ; b", 1), 11U);
  EXPECT_EQ(past_semicolon("a + b;", 1), 1U);
  EXPECT_EQ(end_of_name("MAX(a, (b)) + 1", 0), 11U);
  EXPECT_EQ(end_of_name("INFINITY;", 0), 8U);
}

}  // namespace
}  // namespace accelopt::syntax
