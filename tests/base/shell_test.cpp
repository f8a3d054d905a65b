// SPDX-License-Identifier: Apache-2.0
#include "base/shell.hpp"

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

TEST(ShellQuoted, Quotes_AreEscaped) {
  EXPECT_EQ(shell_quoted("a b$c"), "'a b$c'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_word("/a/b-1.cpp"), "/a/b-1.cpp");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("a{b,c}"), "'a{b,c}'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(SplitCommand, PartsWordsAsAShellDoes) {
  const auto words = [](const std::string& text) { return split_command(text).value(); };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("ssh host accelopt worker --device cpu:0"),
            (Words{"ssh", "host", "accelopt", "worker", "--device", "cpu:0"}));
  EXPECT_EQ(words("  a\t b\n"), (Words{"a", "b"}));
  EXPECT_EQ(words("'a b' \"c d\" e\\ f"), (Words{"a b", "c d", "e f"}));
  EXPECT_EQ(words("a'b c'd\"e f\""), (Words{"ab cde f"}));
  EXPECT_EQ(words("'' \"\" x"), (Words{"", "", "x"}));
  EXPECT_EQ(words(R"("a\"b\\c\d" 'e\f' \'g)"), (Words{R"(a"b\c\d)", R"(e\f)", "'g"}));
  EXPECT_EQ(words("$HOME `x` *.c ~ a|b >c"), (Words{"$HOME", "`x`", "*.c", "~", "a|b", ">c"})) << "there is no shell";
}

TEST(SplitCommand, RefusesWhatIsLeftOpen) {
  for (const auto& [text, word] : std::vector<std::pair<const char*, const char*>>{
           {"", "empty"}, {"  ", "empty"}, {"a 'b", "quote"}, {"a \"b", "quote"}, {"a\\", "backslash"}}) {
    const auto refused = split_command(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find(word), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace accelopt::base
