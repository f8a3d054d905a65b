// SPDX-License-Identifier: Apache-2.0
#include "refactor/readability.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "syntax/tree/library.hpp"

namespace accelopt::refactor {
namespace {

constexpr Figures kOld{.cognitive = 9, .nesting = 3, .statements = 20, .longest = 15};

TEST(Simpler, NeedsEveryFigure) {
  EXPECT_EQ(why_not_simpler(kOld, {.cognitive = 4, .nesting = 3, .statements = 22, .longest = 40}), "");
  EXPECT_EQ(why_not_simpler(kOld, {.cognitive = 9, .nesting = 1, .statements = 10, .longest = 9}),
            "its cognitive complexity was 9 and is 9");
  EXPECT_EQ(why_not_simpler(kOld, {.cognitive = 4, .nesting = 4, .statements = 20, .longest = 15}),
            "it nests 4 deep, and 3 before");
  EXPECT_EQ(why_not_simpler(kOld, {.cognitive = 4, .nesting = 3, .statements = 23, .longest = 15}),
            "it has 23 statements, and 20 before: over 10 % more");
  EXPECT_EQ(why_not_simpler(kOld, {.cognitive = 4, .nesting = 3, .statements = 20, .longest = 41}),
            "its longest statement has 41 tokens, and 15 before");
}

TEST(Simpler, RatioIsNothingWhereItIsNotShown) {
  EXPECT_DOUBLE_EQ(simpler_log_ratio(kOld, {.cognitive = 4, .nesting = 3, .statements = 20, .longest = 15}),
                   std::log(2));
  EXPECT_EQ(simpler_log_ratio(kOld, {.cognitive = 4, .nesting = 4, .statements = 20, .longest = 15}), 0);
  EXPECT_LT(simpler_log_ratio(kOld, {.cognitive = 19, .nesting = 4, .statements = 20, .longest = 15}), 0);
}

class CompareReadability : public testing::Test {
 protected:
  void SetUp() override {
    auto reader = syntax::tree::Reader::open({ACCELOPT_GRAMMARS});
    if (!reader || !reader->measure("python", ""))
      GTEST_SKIP() << "there is no libtree-sitter, or no build/grammars; scripts/fetch-grammars.sh builds them";
    reader_.emplace(*reader);
  }
  base::Result<Readability> compare(const std::string& before, const std::string& after) {
    return compare_readability(
        *reader_, code_language("python"),
        {{.path = "a.py", .kind_before = {}, .kind_after = {}, .before = before, .after = after}});
  }
  std::optional<syntax::tree::Reader> reader_;
};

constexpr const char* kNested =
    "def f(a):\n    if a:\n        if a > 1:\n            return 1\n    return 2\n\n\ndef g(a):\n    return a\n";

TEST_F(CompareReadability, OnlyFunctionsThatDifferAreTold) {
  const auto found =
      compare(kNested, "def f(a):\n    if a and a > 1:\n        return 1\n    return 2\n\n\ndef g(a):\n    return a\n");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->functions.size(), 1U);
  EXPECT_EQ(found->functions[0].name, "a.py#f");
  EXPECT_EQ(describe(*found), "cognitive complexity 3 -> 2, deepest nesting 2 -> 1, 4 -> 3 statements");
  EXPECT_TRUE(found->simpler);
}

TEST_F(CompareReadability, HelpersOfTheSameFileCount) {
  const auto found = compare(kNested,
                             "def f(a):\n    return _h(a)\n\n\ndef _h(a):\n    if a:\n        if a > 1:\n            "
                             "return 1\n    return 2\n\n\n"
                             "def g(a):\n    return a\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->simpler);
  EXPECT_EQ(found->after.cognitive, 3);
}

TEST_F(CompareReadability, PublicSignaturesStay) {
  const auto found = compare(kNested, "def f(a, b=0):\n    return 2\n\n\ndef g(a):\n    return a\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->reason, "the signature of a.py#f changed");
}

TEST_F(CompareReadability, DecoratorsOfPublicFunctionsStay) {
  const auto found = compare(kNested, "@cache\ndef f(a):\n    return 2\n\n\ndef g(a):\n    return a\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->reason, "the decorators of a.py#f changed");
}

TEST_F(CompareReadability, ARenameIsOfAFunctionWithItsFigures) {
  const auto found = compare(kNested,
                             "def f(a):\n    if a:\n        if a > 2:\n            return 1\n    return 2\n\n\n"
                             "def g(a):\n    return a\n");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->functions.size(), 1U);
  EXPECT_EQ(found->reason, "its cognitive complexity was 3 and is 3");
}

TEST_F(CompareReadability, SpecialMethodsArePublic) {
  const auto found = compare("class A:\n    def __init__(self, a):\n        self.a = a if a else 0\n",
                             "class A:\n    def __init__(self, a, b=0):\n        self.a = a\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->reason, "the signature of a.py#A.__init__ changed");
}

TEST_F(CompareReadability, InCTheWordStaticMakesAFunctionInternal) {
  const auto reason = [&](const char* before, const char* after) {
    const auto found =
        compare_readability(*reader_, code_language("c"),
                            {{.path = "a.c", .kind_before = {}, .kind_after = {}, .before = before, .after = after}});
    return found ? found->reason : found.error().message;
  };
  EXPECT_EQ(reason("int statics(int a) { return a ? 1 : 2; }\n", "int statics(long a) { return a; }\n"),
            "the signature of a.c#statics changed");
  EXPECT_EQ(reason("static int f(int a) { return a ? 1 : 2; }\n", "static int f(long a) { return a; }\n"), "");
}

TEST_F(CompareReadability, TextThatIsRunIsRefused) {
  const auto found = compare(kNested, "def f(a):\n    return eval('1 if a else 2')\n\n\ndef g(a):\n    return a\n");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::parse);
  EXPECT_NE(found.error().message.find("runs text as code"), std::string::npos) << found.error().message;
}

}  // namespace
}  // namespace accelopt::refactor
