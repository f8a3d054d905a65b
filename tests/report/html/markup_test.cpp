// SPDX-License-Identifier: Apache-2.0
#include "report/html/markup.hpp"

#include <gtest/gtest.h>

namespace accelopt::report::html {
namespace {

TEST(Markup, TextOfOthers_StaysText) {
  EXPECT_EQ(text("<b a='1' c=\"2\">&amp;</b>").source(), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;");
}

TEST(Markup, ValuesOfAttributes_DoNotEndTheAttribute) {
  EXPECT_EQ(element("p", {{"title", "\" onclick=\"x"}}, "a < b").source(),
            "<p title=\"&quot; onclick=&quot;x\">a &lt; b</p>");
}

TEST(Markup, ControlCharacters_BecomeBlanks) {
  EXPECT_EQ(text(std::string_view("a\0b\x1b[2Jc\x7f", 9)).source(), "a b [2Jc ");
}

TEST(Markup, OverridesOfDirection_BecomeBlanks) {
  EXPECT_EQ(text("if \xe2\x80\xae(admin)\xe2\x81\xa6").source(), "if  (admin) ");
}

TEST(Markup, BrokenUtf8_BecomesQuestionMarks) {
  EXPECT_EQ(text("a\xff<\xc3").source(), "a?&lt;?");
}

TEST(Markup, LinesAndTabs_Stay) {
  EXPECT_EQ(text("a\n\tb").source(), "a\n    b");
}

TEST(Markup, EmptyElements_AreClosedInSvg) {
  EXPECT_EQ(empty_element("line", {{"x1", "0"}}).source(), "<line x1=\"0\"/>");
  EXPECT_EQ(empty_element("meta", {{"charset", "utf-8"}}).source(), "<meta charset=\"utf-8\">");
}

TEST(Markup, Elements_HoldElements) {
  Markup inner = element("b", "1 < 2");
  inner += text(" & 3");
  EXPECT_EQ(element("p", inner).source(), "<p><b>1 &lt; 2</b> &amp; 3</p>");
}

}  // namespace
}  // namespace accelopt::report::html
