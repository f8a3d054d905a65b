// SPDX-License-Identifier: Apache-2.0
#include "refactor/test_reports.hpp"

#include <gtest/gtest.h>

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

TEST(TestReports, GoJson_IsReadByEvent) {
  EXPECT_EQ(read(TestFormat::go_json,
                 "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"pass\",\"Package\":\"p\","
                 "\"Test\":\"A\"}\n"
                 "garbage\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"B\"}\n"),
            (TestOutcomes{{"p::A", TestOutcome::passed}, {"p::B", TestOutcome::failed}}));
}

TEST(TestReports, Unittest_IsReadByLine) {
  EXPECT_EQ(read(TestFormat::unittest, "a ... ok\nb ... FAIL\nc ... skipped 'why'\n\nRan 3 tests\n"), kThree);
  EXPECT_EQ(read(TestFormat::unittest, "a ... a warning\nmore of it\nok\nb ... FAIL\nc ... skipped 'x ... y'\n"),
            kThree);
  EXPECT_EQ(read(TestFormat::unittest, "a ... ok\nb ... killed\n"),
            (TestOutcomes{{"a", TestOutcome::passed}, {"b", TestOutcome::failed}}));
}

TEST(TestReports, NameThatIsReportedTwice_HasItsWorstOutcome) {
  EXPECT_EQ(read(TestFormat::tap, "ok 1 - a\nnot ok 2 - a\nok 3 - a\n"), (TestOutcomes{{"a", TestOutcome::failed}}));
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
