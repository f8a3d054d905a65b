// SPDX-License-Identifier: Apache-2.0
#include "report/review_text.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace accelopt::report {
namespace {

using base::Json;

Json review_of_two() {
  const Json pair = {{"changes", {0, 1}},
                     {"better", "second"},
                     {"stable", true},
                     {"flipped", false},
                     {"reasons", {"Both keep behaviour; this one is plainer."}}};
  return {{"review",
           {{"model", "m"},
            {"weight", "decides"},
            {"weight_why", "it stopped 20 of 20 planted defects"},
            {"changes",
             {{{"name", "one"}, {"rubric", {{"sum", 21}}}, {"objections", Json::array()}},
              {{"name", "other"}, {"rubric", {{"sum", 22}}}, {"objections", Json::array()}}}},
            {"pairs", {pair}},
            {"chosen", 1},
            {"reason", "pairs"},
            {"advised", 1}}}};
}

TEST(ReviewText, TellsOpinionsPairsAndTheChoice) {
  const std::vector<std::string> expected = {
      "The reviewer m judged the finalists blindly; it decides where the clock does not: it stopped 20 of 20 planted "
      "defects.",
      "one: rubric 21 of 24.",
      "other: rubric 22 of 24.",
      "one against other: other is better: Both keep behaviour; this one is plainer.",
      "Chosen: other; the clock does not separate it from others, and it won more pairs.",
  };
  EXPECT_EQ(review_lines(review_of_two()), expected);
}

TEST(ReviewText, APairWhoseAnswersChangeWithTheOrderIsATie) {
  Json result = review_of_two();
  result["review"]["pairs"][0]["stable"] = false;
  result["review"]["pairs"][0]["flipped"] = true;
  result["review"]["pairs"][0]["reasons"] = {"hard to say"};
  EXPECT_EQ(review_lines(result)[3], "one against other: a tie, because the order changed the answer: hard to say.");
}

TEST(ReviewText, NothingLeft_SaysSo) {
  Json result = review_of_two();
  result["review"]["chosen"] = nullptr;
  result["review"]["changes"][0]["objections"] = {
      {{"fate", "confirmed"}, {"why", "an empty list"}, {"text", "1 became 0"}}};
  EXPECT_EQ(review_lines(result)[1],
            "one: rubric 21 of 24; stopped by an input that was run: an empty list (1 became 0).");
  EXPECT_EQ(review_lines(result).back(), "Nothing is left to be kept.");
}

}  // namespace
}  // namespace accelopt::report
