// SPDX-License-Identifier: Apache-2.0
#include "model/c_tokens.hpp"

#include <gtest/gtest.h>

namespace accelopt::model {
namespace {

using Tokens = std::vector<std::string>;

TEST(Lexer, CommentsAndLayoutDoNotCount) {
  EXPECT_EQ(canonical_tokens("int  a=1; // one\n/* two */ int b;"), canonical_tokens("int a = 1;\nint b ;"));
  EXPECT_EQ(canonical_tokens("a+ +b"), (Tokens{"a", "+", "+", "b"}));
  EXPECT_EQ(canonical_tokens("a++b"), (Tokens{"a", "++", "b"}));
}

TEST(Lexer, NumbersAreWhole) {
  EXPECT_EQ(canonical_tokens("1.5e-3f 0x1p+2 1'000 .5 x.y"),
            (Tokens{"1.5e-3f", "0x1p+2", "1'000", ".5", "x", ".", "y"}));
}

TEST(Lexer, StringsHideWhatLooksLikeComments) {
  EXPECT_EQ(canonical_tokens(R"(f("// no", '"', "a\"b"))"),
            (Tokens{"f", "(", "\"// no\"", ",", "'\"'", ",", "\"a\\\"b\"", ")"}));
  EXPECT_EQ(canonical_tokens("R\"x(a)\" /* )x\";"), (Tokens{"R\"x(a)\" /* )x\"", ";"}));
}

TEST(Lexer, PreprocessorLinesAndDirectivesAreKept) {
  const auto found = c_tokens("//@ flags   -O2\n#define  A \\\n  1 // one\nint a;\n#pragma omp for");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].kind, TokenKind::directive);
  EXPECT_EQ(found[0].text, "//@ flags -O2");
  EXPECT_EQ(found[1].kind, TokenKind::preprocessor);
  EXPECT_EQ(found[1].text, "#define A 1");
  EXPECT_EQ(found[5].text, "#pragma omp for");
  EXPECT_EQ(canonical_tokens("a # b"), (Tokens{"a", "#", "b"}))
      << "a number sign inside a line begins no preprocessor line";
}

TEST(Lexer, UnterminatedLiteralsEndWithTheText) {
  EXPECT_EQ(canonical_tokens("a \"b"), (Tokens{"a", "\"b"}));
  EXPECT_EQ(canonical_tokens("a /* b"), (Tokens{"a"}));
  EXPECT_EQ(canonical_tokens("R\"(a"), (Tokens{"R\"(a"}));
}

TEST(Lexer, QuotesInPreprocessorLinesHideWhatLooksLikeComments) {
  EXPECT_EQ(canonical_tokens("#define U \"http://x\" // url\n#define V '\"' /* v */ 2\n"),
            (Tokens{"#define U \"http://x\"", "#define V '\"' 2"}));
  EXPECT_NE(canonical_tokens("#define U \"//a\"\n"), canonical_tokens("#define U \"//b\"\n"));
}

TEST(Lexer, CommentsGoOnOverContinuedLines) {
  EXPECT_EQ(canonical_tokens("a // b \\\n c\nd"), (Tokens{"a", "d"}));
  EXPECT_EQ(canonical_tokens("//@ flags \\\r\n -O2\nx"), (Tokens{"//@ flags -O2", "x"}));
}

TEST(Lexer, PrefixesBelongToTheirLiterals) {
  EXPECT_EQ(canonical_tokens("u8\"a\" L'b' fooR\"c\""), (Tokens{"u8\"a\"", "L'b'", "fooR", "\"c\""}));
}

TEST(CanonicalTokens, DropsCommentsAndLayout) {
  EXPECT_EQ(canonical_tokens("int  a = 1; // one\n/* two\nlines */ b+=2;"),
            (Tokens{"int", "a", "=", "1", ";", "b", "+=", "2", ";"}));
}

TEST(CanonicalTokens, KeepsPreprocessorLinesWhole) {
  EXPECT_EQ(canonical_tokens("#define  N   8 // tile\n#if A \\\n  && B\nx"),
            (Tokens{"#define N 8", "#if A && B", "x"}));
}

TEST(CanonicalTokens, KeepsDirectives) {
  EXPECT_EQ(canonical_tokens("//@ flags  -ffast-math\n// flags\nint x;"),
            (Tokens{"//@ flags -ffast-math", "int", "x", ";"}));
}

TEST(CanonicalTokens, DoesNotLookIntoStrings) {
  EXPECT_EQ(canonical_tokens(R"(s = "a // b" + '"' + "\"/*";)"),
            (Tokens{"s", "=", R"("a // b")", "+", R"('"')", "+", R"("\"/*")", ";"}));
  EXPECT_EQ(canonical_tokens("R\"x(a)\" // )x\" y"), (Tokens{"R\"x(a)\" // )x\"", "y"}));
}

TEST(CanonicalTokens, KeepsNumbersAndOperatorsApart) {
  EXPECT_EQ(canonical_tokens("1.5e-3f-x->y>>=2"), (Tokens{"1.5e-3f", "-", "x", "->", "y", ">>=", "2"}));
  EXPECT_EQ(canonical_tokens("a+ +b"), (Tokens{"a", "+", "+", "b"}));  // not the same program as a++b
}

TEST(CanonicalTokens, EndsOnUnfinishedInput) {
  EXPECT_EQ(canonical_tokens("a /* never closed"), (Tokens{"a"}));
  EXPECT_EQ(canonical_tokens("\"never closed\nb"), (Tokens{"\"never closed", "b"}));
}

}  // namespace
}  // namespace accelopt::model
