// SPDX-License-Identifier: Apache-2.0
#include "refactor/case_survey.hpp"

#include <gtest/gtest.h>

namespace accelopt::refactor {
namespace {

using Texts = std::vector<std::string>;

TEST(CaseSurvey, NamesWhatOccursInNoFile) {
  CaseSurvey survey;
  survey.add(R"([[3, 5, 5], [7], []])");
  EXPECT_EQ(survey.missing(), (Texts{"a negative number", "zero", "a number over 2^53"}));
  survey.add(R"([-1, 0, 9007199254740994])");
  EXPECT_EQ(survey.missing(), Texts());
  EXPECT_EQ(survey.files(), 2);
}

TEST(CaseSurvey, SaysNothingOfKindsThatThereAreNone) {
  CaseSurvey survey;
  survey.add(R"({"name": "Ada", "born": null})");
  EXPECT_EQ(survey.missing(), (Texts{"an empty text", "a text outside of ASCII", "a text of several lines",
                                     "a text with over 15 digits in a row"}))
      << "neither numbers nor lists";
}

TEST(CaseSurvey, ReadsEscapesAndALineACase) {
  CaseSurvey survey;
  survey.add("\"a\\u2028b\"\n\"\"\n\"two\\nlines\"\n\"1.0.0-1234567890123456\"\n");
  EXPECT_EQ(survey.missing(), Texts());
}

TEST(CaseSurvey, OfOtherFilesTellsWhatBytesShow) {
  CaseSurvey survey;
  survey.add("insert 3\nremove 4 \xc3\xa4\n");
  EXPECT_EQ(survey.missing(),
            (Texts{"an empty text", "a text of several lines", "a text with over 15 digits in a row"}));
}

TEST(RepeatedCases, AreCountedInListsAndLines) {
  EXPECT_EQ(repeated_cases("[[1, 2], [1, 3], [2]]"), "");
  EXPECT_EQ(repeated_cases("1 2\n\n1 3\n\n"), "");
  EXPECT_EQ(
      repeated_cases("[[1, 2], [1,2], [3], [1, 2]]"),
      "2 of 4 cases of a file are equal to earlier ones, so that keeping results gains on them alone; draw each of "
      "them");
  EXPECT_TRUE(repeated_cases("1 2\n3\n1 2\n").starts_with("1 of 3 cases"));
}

TEST(CaseSurvey, SizesAreSmallOnesAndThoseOfTheRole) {
  const Workload raced{.name = "random", .sizes = {100, 400}, .role = Role::race, .count = 2};
  EXPECT_EQ(compared_sizes(raced), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 17, 100}));
  EXPECT_EQ(compared_count(raced, 17), 20);
  EXPECT_EQ(compared_count(raced, 100), 2);
  const Workload checked{.name = "odd", .sizes = {9, 12}, .role = Role::check};
  EXPECT_EQ(compared_sizes(checked).back(), 12);
}

}  // namespace
}  // namespace accelopt::refactor
