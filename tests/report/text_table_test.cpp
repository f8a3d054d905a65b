// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <gtest/gtest.h>

#include "report/document.hpp"

#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

TEST(TextTable, AlignsColumns) {
  TextTable table({{"task"}, {"speed-up", Align::right}, {"note"}});
  table.add({"matmul", "15.3x", "confirmed"});
  table.add({"rmsnorm_matmul", "9.12x", ""});
  table.add({"silu"});
  EXPECT_EQ(table.render(),
            "task            speed-up  note\n"
            "--------------  --------  ---------\n"
            "matmul             15.3x  confirmed\n"
            "rmsnorm_matmul     9.12x\n"
            "silu\n");
}

TEST(TextTable, OfTwoColumnsIsATableToo) {
  TextTable table({{"a"}, {"b"}});
  table.add({"1", "2"});
  EXPECT_EQ(table.render(), "a  b\n-  -\n1  2\n");
}

TEST(TextTable, WithoutRowsIsEmpty) {
  EXPECT_EQ(TextTable({{"task"}}).render(), "");
}

TEST(TextTable, CountsColumnsAndNotBytes) {
  TextTable table({{"name"}, {"x", Align::right}});
  table.add({"\xC3\xA9\xC3\xA9", "1"});           // two letters with accents, two bytes each
  table.add({"\xE6\xBC\xA2\xE5\xAD\x97", "22"});  // two wide characters
  table.add({"e\xCC\x81", "333"});                // a letter and a combining accent
  EXPECT_EQ(table.render(),
            "name    x\n"
            "----  ---\n"
            "\xC3\xA9\xC3\xA9      1\n"
            "\xE6\xBC\xA2\xE5\xAD\x97   22\n"
            "e\xCC\x81     333\n");
}

TEST(TextTable, ShowsEscapeSequencesHarmlessly) {
  TextTable table({{"title"}});
  table.add(
      {"\x1b[2Jgone\nnext\x9b"
       "1m"});
  EXPECT_EQ(table.render(), "title\n----------------\n [2Jgone next?1m\n");
}

TEST(TextWidth, PrintableKeepsTextAndDropsControls) {
  EXPECT_EQ(printable("tile \xC3\x97 2"), "tile \xC3\x97 2");
  EXPECT_EQ(printable("a\tb\r\nc\x7F"), "a b  c ");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            " 31m");  // the one-character escape
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a b");                                        // right-to-left override
  EXPECT_EQ(printable("a\xE2\x80\x8F\xD8\x9C."), "a  .");  // marks of direction
  EXPECT_EQ(printable_lines("a\x1B[2J\nb\tc\n"), "a [2J\nb c\n");
  EXPECT_EQ(printable("\xFF\xC3"), "??");       // no UTF-8
  EXPECT_EQ(printable("\xC0\xAF"), "??");       // an overlong '/'
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");  // a surrogate
}

TEST(TextWidth, ClipsAtColumns) {
  EXPECT_EQ(clip("abcdef", 6), "abcdef");
  EXPECT_EQ(clip("abcdefg", 6), "abc...");
  EXPECT_EQ(clip("abcdefg", 2), "..");
  EXPECT_EQ(clip("\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2", 5), "\xE6\xBC\xA2...");
  EXPECT_EQ(display_width(clip("\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97", 6)), 5U);
}

TEST(TextTable, MarkdownIsATableWhateverTheCellsHold) {
  TextTable table({{"task"}, {"time [s]", Align::right}});
  EXPECT_EQ(table.markdown(), "");
  table.add({"a|b\n`c`", "1.5"});
  EXPECT_EQ(table.markdown(), "| task | time \\[s\\] |\n|---|---:|\n| a\\|b \\`c\\` | 1.5 |\n");
}

TEST(Document, IsTheSameForTerminalsAndAsMarkdown) {
  Document page("A run");
  page.text("first\n");
  page.heading("Times");
  TextTable table({{"step"}});
  table.add({"build"});
  page.table(std::move(table));
  page.text("\n```\nnot the end\n");
  EXPECT_EQ(page.to_text(), "first\n\nTimes\nstep\n-----\nbuild\n\n```\nnot the end\n");
  EXPECT_EQ(page.to_markdown(),
            "# A run\n\n```text\nfirst\n```\n\n## Times\n\n| step |\n|---|\n| build |\n\n"
            "````text\n```\nnot the end\n````\n");
}

}  // namespace
}  // namespace accelopt::report
