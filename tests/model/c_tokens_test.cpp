// SPDX-License-Identifier: Apache-2.0
#include "model/c_tokens.hpp"

#include <gtest/gtest.h>

namespace accelopt::model {
namespace {

using Tokens = std::vector<std::string>;

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
