// SPDX-License-Identifier: Apache-2.0
#include "review/answers.hpp"

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

constexpr const char* kDiff =
    "--- old/a.py\n+++ new/a.py\n@@ -1,2 +1,2 @@\n def f(x):\n-    return x + 1\n+    return 1 + x\n";

std::string rubric(const std::string& quote) {
  std::string text = "{\"rubric\": {";
  for (const char* item : {"behaviour", "edge_cases", "state", "api", "simplicity", "fit"})
    text +=
        std::string(text.ends_with('{') ? "" : ", ") + "\"" + item + "\": {\"score\": 3, \"quote\": \"" + quote + "\"}";
  return text + "}";
}

TEST(OccursIn, QuoteOfTheDiff_WordForWord) {
  EXPECT_TRUE(occurs_in("return 1 + x", kDiff));
  EXPECT_TRUE(occurs_in("+    return 1 + x", kDiff));
  EXPECT_TRUE(occurs_in("def f(x):\n    return x + 1", kDiff));
  EXPECT_FALSE(occurs_in("return 1+x", kDiff));
  EXPECT_FALSE(occurs_in("x", kDiff));
  EXPECT_FALSE(occurs_in("", kDiff));
}

TEST(ReadOpinion, QuoteThatIsNotThere_MakesItemVoid) {
  const auto honest = read_opinion(rubric("return 1 + x") + "}", kDiff);
  ASSERT_TRUE(honest.has_value()) << honest.error().message;
  EXPECT_EQ(honest->rubric.sum(), 18);
  const auto lazy = read_opinion(rubric("looks good to me") + "}", kDiff);
  ASSERT_TRUE(lazy.has_value());
  EXPECT_EQ(lazy->rubric.sum(), 0);
  for (const Score& item : lazy->rubric.items) EXPECT_FALSE(item.holds);
  EXPECT_FALSE(lazy->rubric.doubts(4));
}

TEST(ReadOpinion, Objections_InTheirThreeForms) {
  const std::string objections = R"x([{"why": "a", "cases": [[1]]}, {"why": "b", "cases": "1 2\n"},
      {"why": "c", "generate": {"workload": "w", "size": 3, "seed": 9}}, {"why": "d", "script": "print(1)"},
      {"why": "too many", "script": "x"}])x";
  const auto opinion = read_opinion(
      "Here it is:\n```json\n" + rubric("return 1 + x") + ", \"objections\": " + objections + "}\n```\n", kDiff);
  ASSERT_TRUE(opinion.has_value()) << opinion.error().message;
  ASSERT_EQ(opinion->objections.size(), kMostObjections);
  EXPECT_EQ(opinion->objections[0].probe.cases, "[[1]]");
  EXPECT_EQ(opinion->objections[1].probe.cases, "1 2\n");
  EXPECT_EQ(opinion->objections[2].probe.request->size, 3);
  EXPECT_EQ(opinion->objections[2].probe.request->count, 1);
  EXPECT_EQ(opinion->objections[3].probe.script, "print(1)");
}

TEST(ReadOpinion, OtherForms_AreRefusedWithTheirReason) {
  const std::string good = rubric("return 1 + x");
  const auto says = [&](const std::string& answer, const std::string& part) {
    const auto read = read_opinion(answer, kDiff);
    ASSERT_FALSE(read.has_value()) << answer;
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  };
  says("It is fine.", "no JSON object");
  says("{\"rubric\": 3}", "rubric");
  says("{\"rubric\": {\"behaviour\": {\"score\": 5, \"quote\": \"\"}}}", "from 0 to 4");
  says("{\"rubric\": {\"behaviour\": {\"score\": 2, \"quote\": \"\"}}}", "edge_cases");
  says(good + ", \"objections\": [{\"why\": \"bad\"}]}", "exactly one");
  says(good + ", \"objections\": [{\"cases\": [1], \"script\": \"x\"}]}", "exactly one");
  says(good + ", \"objections\": {}}", "no list");
}

TEST(ReadPair, LetterOrEqual_ElseRefused) {
  EXPECT_EQ(read_pair(R"({"better": "K", "why": "shorter"})", "R", "K")->better, Better::second);
  EXPECT_EQ(read_pair(R"({"better": "R"})", "R", "K")->better, Better::first);
  EXPECT_EQ(read_pair(R"({"better": "equal"})", "R", "K")->better, Better::equal);
  EXPECT_FALSE(read_pair(R"({"better": "A"})", "R", "K").has_value());
  EXPECT_FALSE(read_pair("R", "R", "K").has_value());
}

}  // namespace
}  // namespace accelopt::review
