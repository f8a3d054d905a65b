// SPDX-License-Identifier: Apache-2.0
#include "agents/edits.hpp"

#include <gtest/gtest.h>

#include "agents/questions.hpp"

namespace accelopt::agents {
namespace {

constexpr const char* kSource = "one();\n  two();\nthree();\n  two();\nfour();\n";

std::string edit_block(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

TEST(Edits, ApplyInOrderAndLeaveTheRest) {
  const auto text = edited("First:\n```\n" + edit_block("three();  \n  two();\n", "3();\n") + "```\nthen\n" +
                               edit_block("3();\nfour();\n", "") + edit_block("one();\n", "zero();\none();\n"),
                           kSource);
  ASSERT_TRUE(text.has_value()) << text.error();
  EXPECT_EQ(*text, "zero();\none();\n  two();\n");
}

TEST(Edits, ABlockThatIsNotThereIsToldTheNearestLines) {
  const auto text = edited(edit_block("three(1);\n  two();\n", "x\n"), kSource);
  ASSERT_FALSE(text.has_value());
  EXPECT_TRUE(holds(text.error(), "block 1")) << text.error();
  EXPECT_TRUE(holds(text.error(), "| three();\n|   two();\n")) << text.error();
}

constexpr const char* kBars = "a = re.split(r'<|>', s)\nb = x |> f\nc = '<|im_start|>' + a\nd = '<|im_end|>'\n";

TEST(Edits, LinesWithBars_AreFoundAndTold) {
  EXPECT_EQ(edited(edit_block("a = re.split(r'<|>', s)\nb = x |> f\n", "b = x |> g\n"), kBars).value(),
            "b = x |> g\nc = '<|im_start|>' + a\nd = '<|im_end|>'\n");
  const auto absent = edited(edit_block("a = re.split(r'<|>', t)\nb = y |> f\n", "\n"), kBars);
  ASSERT_FALSE(absent);
  EXPECT_TRUE(holds(absent.error(), "| a = re.split(r'<|>', s)\n| b = x |> f\n")) << absent.error();
}

TEST(Edits, BrokenUpTokens_AreFoundAndRestored) {
  const auto copied =
      edited(edit_block("c = '< |im_start| >' + a\n", "c = a + '< |im_start| >' + '< |im_end| >'\n"), kBars);
  ASSERT_TRUE(copied) << copied.error();
  EXPECT_TRUE(holds(*copied, "\nc = a + '<|im_start|>' + '<|im_end|>'\nd = '<|im_end|>'\n")) << *copied;
  EXPECT_TRUE(edited(edit_block("c = '<|im_start|>' + a\n", "c = a\n"), kBars)) << "a model that knows better";
  EXPECT_TRUE(holds(edited(edit_block("c = '< |im_start| >'\n", "\n"), kBars).error(), "part of a line"));
}

TEST(Edits, LinesThatWereShownAlike_AreNotClear) {
  const std::string source = "a('<|im_end|>')\na('< |im_end| >')\n";
  EXPECT_TRUE(holds(edited(edit_block("a('< |im_end| >')\n", "b()\n"), source).error(), "several times"));
}

// Each line of a block against each line of a file took minutes, whether it was looked for or for the nearest lines.
TEST(Edits, LongBlocksAgainstALongFileTakeNoMinutes) {
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "x[i] += y[i];\n";
    return text;
  };
  const std::string source = lines(20'000);
  const auto absent = edited(edit_block(lines(900) + "z();\n", "x\n"), source);
  ASSERT_FALSE(absent.has_value());
  EXPECT_TRUE(holds(absent.error(), "| x[i] += y[i];\n")) << absent.error();
  EXPECT_TRUE(holds(edited(edit_block(lines(1001), "x\n"), source).error(), "more than 1000 lines"));
}

TEST(Edits, RefuseWhatIsNotClear) {
  EXPECT_TRUE(holds(edited(edit_block("  two();\n", "x\n"), kSource).error(), "several times"));
  EXPECT_TRUE(holds(edited(edit_block("", "x\n"), kSource).error(), "searches for nothing"));
  EXPECT_TRUE(holds(edited("<<<<<<< SEARCH\none();\n=======\n", kSource).error(), "does not end"));
  EXPECT_TRUE(holds(edited("<<<<<<< SEARCH\n" + edit_block("one();\n", "x\n"), kSource).error(), "does not end"));
  EXPECT_TRUE(holds(edited(edit_block("one();\n", "\x1b[1m\n"), kSource).error(), "control characters"));
  EXPECT_FALSE(has_edits("a << b;\n<<<<<<< search\n"));
}

TEST(AnswerForm, OffersEditsOfLongFilesAlone) {
  const model::Task task = example_task();
  EXPECT_FALSE(holds(answer_form(task.baseline), "SEARCH"));
  const model::Solution longer = model::with_main_text(task.baseline, std::string(201, '\n'));
  EXPECT_TRUE(may_be_edited(longer));
  EXPECT_TRUE(holds(answer_form(longer), "```cpp\nthe complete file\n```"));
  EXPECT_TRUE(holds(answer_form(longer), "<<<<<<< SEARCH\n"));
}

}  // namespace
}  // namespace accelopt::agents
