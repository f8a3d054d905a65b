// SPDX-License-Identifier: Apache-2.0
#include "refactor/test_reports.hpp"

#include <gtest/gtest.h>

#include "refactor/tap_report.hpp"
#include "refactor/unittest_report.hpp"

namespace accelopt::refactor {
namespace {

TestOutcomes read(TestFormat format, std::string_view text) {
  return read_test_report(format, text, TestOutcome::passed);
}

const TestOutcomes kThree{{"a", TestOutcome::passed}, {"b", TestOutcome::failed}, {"c", TestOutcome::skipped}};

TEST(TestReports, Junit_IsReadByCase) {
  EXPECT_EQ(
      read(TestFormat::junit,
           "<testsuite><testcase classname=\"m\" name=\"a\" time=\"1\"/><testcase classname=\"m\" name=\"b\">"
           "<failure message=\"x\"/></testcase><testcase classname=\"m\" name=\"c\"><skipped/></testcase>"),
      (TestOutcomes{{"m::a", TestOutcome::passed}, {"m::b", TestOutcome::failed}, {"m::c", TestOutcome::skipped}}));
}

TEST(TestReports, Tap_IsReadByLine) {
  EXPECT_EQ(read(TestFormat::tap, "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no disk\n"), kThree);
}

TEST(TestReports, TapWithoutItsPlan_Fails) {
  const auto plan = [](std::string_view text) { return read(TestFormat::tap, text).contains(std::string(kTapPlan)); };
  EXPECT_FALSE(plan("1..2\nok 1 - a\nok 2 - b\n"));
  EXPECT_FALSE(plan("ok 1 - a\n1..1\nok 1 - b\n1..1 # two programs\n"));
  EXPECT_TRUE(plan("ok 1 - a\nok 2 - b\nTypeError: it is no list\n"));
  EXPECT_TRUE(plan("1..3\nok 1 - a\nok 2 - b\n"));
  EXPECT_TRUE(plan("ok 1 - a\nok 1 - b\n1..1\n")) << "the first of two programs died";
  EXPECT_TRUE(plan("1..2\nok 1 - a\nBail out! no disk\nok 2 - b\n"));
}

TEST(TestReports, TapSubtests_AreNamedByTheirPath) {
  // As node --test writes it.
  const std::string report =
      "TAP version 13\n# Subtest: uniq\n    # Subtest: keeps the first\n    ok 1 - keeps the first\n      ---\n"
      "      stack: |-\n        ok 9 - no test\n      ...\n    # Subtest: serves\n"
      "        # Subtest: here\n        not ok 1 - here\n        1..1\n    not ok 2 - serves\n      ---\n      ...\n"
      "    ok 3 - sorts # SKIP no disk\n    1..3\nnot ok 1 - uniq\n  ---\n  ...\nok 2 - exports\n1..2\n";
  EXPECT_EQ(read(TestFormat::tap, report), (TestOutcomes{{"uniq > keeps the first", TestOutcome::passed},
                                                         {"uniq > serves > here", TestOutcome::failed},
                                                         {"uniq > sorts", TestOutcome::skipped},
                                                         {"exports", TestOutcome::passed}}));
  EXPECT_EQ(read(TestFormat::tap, report.substr(0, report.find("        not ok 1"))),
            (TestOutcomes{{"uniq > keeps the first", TestOutcome::passed}}))
      << "of what has begun, the results";
}

TEST(TestReports, TapSubtestThatFailsItself_IsTold) {
  EXPECT_EQ(
      read(TestFormat::tap, "    ok 1 - a\n    not ok 2 - b # TODO later\n    1..2\nnot ok 1 - s\n1..1\n"),
      (TestOutcomes{{"s > a", TestOutcome::passed}, {"s > b", TestOutcome::skipped}, {"s", TestOutcome::failed}}));
}

TEST(TestReports, TapSubtestsInBraces_AreRead) {
  EXPECT_EQ(
      read(TestFormat::tap,
           "1..3\nok 1 - s # time=1ms {\n    1..1\n    ok 1 - a # time=1ms\n}\nok 2 - reads {\nok 3 - a {\n"),
      (TestOutcomes{{"s > a", TestOutcome::passed}, {"reads {", TestOutcome::passed}, {"a {", TestOutcome::passed}}));
}

TEST(TestReports, TapSkipWithoutAName_IsASkip) {
  EXPECT_EQ(read(TestFormat::tap, "1..2\nok 1 # skip no disk\nok 2\n"),
            (TestOutcomes{{"1", TestOutcome::skipped}, {"2", TestOutcome::passed}}));
}

TEST(TestReports, GoJson_IsReadByEvent) {
  EXPECT_EQ(read(TestFormat::go_json,
                 "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"pass\",\"Package\":\"p\","
                 "\"Test\":\"A\"}\n"
                 "garbage\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"B\"}\n"),
            (TestOutcomes{{"p::A", TestOutcome::passed}, {"p::B", TestOutcome::failed}}));
}

TEST(TestReports, GoPackageThatFailsWithoutATest_IsTold) {
  const auto event = [](const std::string& action, const std::string& test) {
    return R"({"Action":")" + action + R"(","Package":"p")" + (test.empty() ? "" : R"(,"Test":")" + test + '"') + "}\n";
  };
  EXPECT_EQ(read(TestFormat::go_json, event("pass", "A") + event("pass", "")),
            (TestOutcomes{{"p::A", TestOutcome::passed}}));
  EXPECT_EQ(read(TestFormat::go_json, event("fail", "A") + event("fail", "")),
            (TestOutcomes{{"p::A", TestOutcome::failed}}));
  EXPECT_EQ(read(TestFormat::go_json, event("pass", "A") + event("fail", "")),
            (TestOutcomes{{"p::A", TestOutcome::passed}, {"package p", TestOutcome::failed}}));
}

TEST(TestReports, Unittest_IsReadByLine) {
  EXPECT_EQ(read(TestFormat::unittest, "a ... ok\nb ... FAIL\nc ... skipped 'why'\n\nRan 3 tests\n"), kThree);
  EXPECT_EQ(read(TestFormat::unittest, "a ... a warning\nmore of it\nok\nb ... FAIL\nc ... skipped 'x ... y'\n"),
            kThree);
  EXPECT_EQ(read(TestFormat::unittest, "a ... ok\nb ... killed\n"),
            (TestOutcomes{{"a", TestOutcome::passed}, {"b", TestOutcome::failed}}));
}

const std::string kRule(70, '-');

TEST(TestReports, UnittestsOfEqualDocstrings_AreNamedByTheirMethods) {
  EXPECT_EQ(read(TestFormat::unittest,
                 "test_a (m.A.test_a)\nSame words. ... ok\ntest_b (m.A.test_b)\nSame words. ... FAIL\n"
                 "test_c (m.A.test_c)\nReads ... and writes (back). ... progress\nok\n"
                 "test_d (m.A.test_d)\nReads (fast) ... skipped 'why ... ok'\n"),
            (TestOutcomes{{"test_a (m.A.test_a)", TestOutcome::passed},
                          {"test_b (m.A.test_b)", TestOutcome::failed},
                          {"test_c (m.A.test_c)", TestOutcome::passed},
                          {"test_d (m.A.test_d)", TestOutcome::skipped}}));
}

TEST(TestReports, UnittestOutcomeBehindWhatATestWrote_IsRead) {
  const auto found = read_unittest_report(
      "test_a (m.A.test_a) ... progress 100%ok\ntest_b (m.A.test_b) ... it ... is ok\nFAIL\n"
      "test_c (m.A.test_c) ... a ... b okERROR\n" +
      kRule + "\nRan 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n");
  EXPECT_EQ(found.outcomes, (TestOutcomes{{"test_a (m.A.test_a)", TestOutcome::passed},
                                          {"test_b (m.A.test_b)", TestOutcome::failed},
                                          {"test_c (m.A.test_c)", TestOutcome::failed}}));
  EXPECT_EQ(found.contradiction, "");
  EXPECT_EQ(read(TestFormat::unittest, "test_a (m.A.test_a) ... a book"),
            (TestOutcomes{{"test_a (m.A.test_a)", TestOutcome::failed}}))
      << "no summary says that it ended";
}

TEST(TestReports, UnittestSubTestsAndFixtures_AreRead) {
  const auto found = read_unittest_report(
      "test_a (m.A.test_a) ... \n  test_a (m.A.test_a) (i='x ... y') ... FAIL\ntest_b (m.A.test_b) ... \n"
      "  test_b (m.A.test_b) (i=0) ... skipped 'n'\nsetUpClass (m.B) ... ERROR\n"
      "test_c (m.A) ... test_d (m.A) ... ok\n" +
      kRule + "\nFAIL: x\ntext ... of it\n" + kRule +
      "\nRan 4 tests in 0.1s\n\nFAILED (failures=2, errors=1, skipped=1)\n");
  EXPECT_EQ(found.outcomes, (TestOutcomes{{"test_a (m.A.test_a)", TestOutcome::failed},
                                          {"test_a (m.A.test_a) (i='x ... y')", TestOutcome::failed},
                                          {"test_b (m.A.test_b)", TestOutcome::passed},
                                          {"test_b (m.A.test_b) (i=0)", TestOutcome::skipped},
                                          {"setUpClass (m.B)", TestOutcome::failed},
                                          {"test_c (m.A)", TestOutcome::failed},
                                          {"test_d (m.A)", TestOutcome::passed}}));
  EXPECT_EQ(found.contradiction, "");
}

TEST(TestReports, UnittestSummaryThatSaysOtherwise_IsTold) {
  const auto contradiction = [](const std::string& lines, const std::string& summary) {
    return read_unittest_report(lines + kRule + "\nRan " + summary).contradiction;
  };
  const std::string two = "test_a (m.A.test_a) ... ok\ntest_b (m.A.test_b) ... ok\n";
  EXPECT_EQ(contradiction(two, "2 tests in 0.1s\n\nOK\n"), "");
  EXPECT_EQ(contradiction(two, "3 tests in 0.1s\n\nOK\n"),
            "unittest says that it ran 3 tests, and 2 are read from its lines");
  EXPECT_EQ(contradiction(two, "2 tests in 0.1s\n\nFAILED (failures=1)\n"),
            "unittest says that 1 tests failed, and 0 are read from its lines");
  EXPECT_EQ(contradiction("test_a (m.A.test_a) ... lost\n", "1 test in 0.1s\n\nOK\n"),
            "unittest says that 0 tests failed, and 1 are read from its lines");
}

TEST(TestReports, NamesThatComeAgain_AreTestsOfTheirOwn) {
  EXPECT_EQ(read(TestFormat::tap, "ok 1 - a\nnot ok 2 - a\nok 3 - a\n1..3\n"),
            (TestOutcomes{{"a", TestOutcome::passed}, {"a #2", TestOutcome::failed}, {"a #3", TestOutcome::passed}}));
  const std::string one = "<testcase classname=\"m\" name=\"a\"/>";
  EXPECT_EQ(read(TestFormat::junit, one + one).size(), 2U);
}

TEST(TestReports, TruncatedReport_GivesWhatIsThere) {
  EXPECT_EQ(read(TestFormat::junit, "<testcase classname=\"m\" name=\"a\"/><testcase classname=\"m\" na"),
            (TestOutcomes{{"m::a", TestOutcome::passed}}));
  EXPECT_TRUE(read(TestFormat::tap, "").empty());
}

TEST(TestReports, HostileReport_TakesNoLongerThanItsLength) {
  std::string tags;
  std::string entities;
  for (int i = 0; i < 300'000; ++i) {
    tags += "<testcase";
    entities += "&lt;";
  }
  EXPECT_EQ(read_unittest_report("a (" + tags + "\n" + entities + "\na (b) ... " + tags).outcomes.size(), 1U);
  std::string deep = "1..1\n";
  for (int i = 0; i < 20'000; ++i) deep += std::string(4 * (16 - i % 17), ' ') + "ok 1 - a {\n";
  EXPECT_GT(read(TestFormat::tap, deep).size(), 1000U);
  EXPECT_EQ(read(TestFormat::junit, tags + ">"), (TestOutcomes{{"::", TestOutcome::passed}}));
  EXPECT_EQ(first_failure("<failure>" + entities + "</failure>"), std::string(1500, '<'));
}

TEST(FirstFailure, Junit_SaysMessageAndText) {
  EXPECT_EQ(first_failure(R"(<testsuite><testcase classname="a" name="b"/><testcase classname="a" name="c">)"
                          R"(<failure message="assert 1 &lt; 0">line&#10;E  no</failure></testcase></testsuite>)"),
            "assert 1 < 0\nline\nE  no");
  EXPECT_EQ(first_failure(R"(<testcase name="c"><error message="x"/></testcase>)"), "x");
  EXPECT_EQ(first_failure("<testsuite errors=\"0\"><testcase name=\"c\"/></testsuite>"), "");
  EXPECT_EQ(first_failure("<failure"), "");
}

}  // namespace
}  // namespace accelopt::refactor
