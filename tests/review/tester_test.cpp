// SPDX-License-Identifier: Apache-2.0
#include "review/tester.hpp"

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

TEST(ReadTests, EachForm_AtMostSoMany) {
  const auto tests = read_tests(
      "Here: {\"tests\": [{\"why\": \"a\", \"cases\": [1]}, {\"why\": \"b\", \"script\": \"print(1)\"}, {\"why\": "
      "\"c\", \"cases\": \"x\"}]}",
      2);
  ASSERT_TRUE(tests.has_value()) << tests.error().message;
  ASSERT_EQ(tests->size(), 2U);
  EXPECT_EQ(tests->front().probe.cases, "[1]");
  EXPECT_EQ(tests->back().probe.script, "print(1)");
}

TEST(ReadTests, OtherAnswers_AreRefused) {
  EXPECT_FALSE(read_tests("no tests", 2).has_value());
  EXPECT_FALSE(read_tests("{\"objections\": []}", 2).has_value());
  EXPECT_FALSE(read_tests("{\"tests\": [{\"why\": \"nothing\"}]}", 2).has_value());
  EXPECT_TRUE(read_tests("{\"tests\": []}", 2).has_value());
}

TEST(TestsQuestion, ShowsTheBaseAndHowTestsRun) {
  const Subject subject{.language = refactor::code_language("python"),
                        .base = "def f(): pass",
                        .how_to_object = "the driver",
                        .objection_form = "\"cases\": ..."};
  const auto messages = tests_question(subject, 4);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_NE(messages[0].text.find("You are the tester"), std::string::npos);
  EXPECT_NE(messages[0].text.find("at most 4 tests"), std::string::npos);
  EXPECT_NE(messages[1].text.find("def f(): pass"), std::string::npos);
  EXPECT_NE(messages[1].text.find("the driver"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::review
