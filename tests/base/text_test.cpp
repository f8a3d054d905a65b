// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::base {
namespace {

TEST(FirstCharacter, OfEachLength_IsDecoded) {
  const auto expect = [](std::string_view text, char32_t code, std::size_t bytes) {
    const Character c = first_character(text);
    EXPECT_TRUE(c.valid) << text;
    EXPECT_EQ(c.code, code) << text;
    EXPECT_EQ(c.bytes, bytes) << text;
  };
  expect("ab", U'a', 1);
  expect(std::string_view("\0b", 2), 0, 1);
  expect("\xc2\x80", 0x80, 2);
  expect("\xdf\xbf", 0x7ff, 2);
  expect("\xe0\xa0\x80", 0x800, 3);
  expect("\xee\x80\x80", 0xe000, 3);
  expect("\xf0\x90\x80\x80", 0x10000, 4);
  expect("\xf4\x8f\xbf\xbfz", 0x10ffff, 4);
}

TEST(FirstCharacter, NotUtf8_IsOneInvalidByte) {
  for (const std::string_view text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2z", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    const Character c = first_character(text);
    EXPECT_FALSE(c.valid);
    EXPECT_EQ(c.bytes, 1U);
  }
}

TEST(Characters, OfEachKind_AreTold) {
  for (const char32_t c : {0x00, 0x1b, 0x7f, 0x85, 0x9f}) EXPECT_TRUE(is_control(c)) << static_cast<int>(c);
  for (const char32_t c : {U'\t', U'\n', U'\r', U' ', U'~', char32_t{0xa0}}) EXPECT_FALSE(is_control(c));
  for (const char32_t c : {0x061c, 0x200f, 0x202e, 0x2066, 0x2069}) EXPECT_TRUE(changes_direction(c));
  for (const char32_t c : {0x00ad, 0x200b, 0x2028, 0x2060, 0xfeff, 0xfe0f, 0xe0041}) EXPECT_TRUE(is_invisible(c));
  EXPECT_FALSE(changes_direction(U'a') || is_invisible(U'a') || changes_direction(0x202f) || is_invisible(0x2065));
}

TEST(Trimmed, BlanksAround_AreGone) {
  EXPECT_EQ(trimmed(" \t\r\n a b \r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\na ", " "), "\na");
}

TEST(Lower, Ascii_AloneIsChanged) {
  EXPECT_EQ(lower("AZaz@[09_"), "azaz@[09_");
  EXPECT_EQ(lower("\xc3\x89\xc4"), "\xc3\x89\xc4");
}

TEST(SplitWords, Blanks_AreNoPartOfWords) {
  EXPECT_EQ(split_words(" -O2\t-g\n\n-Wall "), (std::vector<std::string_view>{"-O2", "-g", "-Wall"}));
  EXPECT_TRUE(split_words(" \n").empty());
}

TEST(HasWord, WholeWords_Alone) {
  EXPECT_TRUE(has_word("open openat", "openat"));
  EXPECT_FALSE(has_word("open openat", "op"));
  EXPECT_FALSE(has_word("open openat", "open openat"));
  EXPECT_FALSE(has_word("open openat", ""));
}

TEST(Joined, Separator_StandsBetween) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(joined(std::vector<int>{1, 2}, " or ", [](int one) { return std::to_string(one); }), "1 or 2");
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
}

TEST(QuotedList, Texts_AreInQuotesAndBrackets) {
  EXPECT_EQ(quoted_list({"M", "K"}), "[\"M\", \"K\"]");
  EXPECT_EQ(quoted_list({}), "[]");
}

TEST(IsWord, PartsOfNames_Alone) {
  for (const char c : std::string("azAZ09_")) EXPECT_TRUE(is_word(c)) << c;
  for (const char c : std::string("$-. \xc3\n")) EXPECT_FALSE(is_word(c)) << c;
}

TEST(AsciiLine, OtherBytes_AreReplaced) {
  EXPECT_EQ(ascii_line("a\x1b[2J\xc3\xa9\n", 20), "a?[2J???");
  EXPECT_EQ(ascii_line("a\nb", 20, ' '), "a b");
  EXPECT_EQ(ascii_line("abcd", 2), "ab");
}

TEST(WithoutSecret, EscapedInAnyWay_IsFound) {
  EXPECT_EQ(without_secret("it is sk/1+2, sk/1+2.", "sk/1+2"), "it is [key], [key].");
  EXPECT_EQ(without_secret(R"({"a":"sk\/1+2","b":"{\"c\":\"sk\\\/1\u002b2\"}"})", "sk/1+2"),
            R"({"a":"[key]","b":"{\"c\":\"[key]\"}"})");
  EXPECT_EQ(without_secret("?key=%73k%2F1%2b2&x", "sk/1+2"), "?key=[key]&x");
  EXPECT_EQ(without_secret(R"(a\\b%c a\b%25c a\\b%c)", R"(a\b%c)"), "[key] [key] [key]");
}

TEST(WithoutSecret, HeadAndTailAroundAMask_AreGone) {
  const std::string secret = "sk-proj-0123456789abcdefWXYZ";
  EXPECT_EQ(without_secret("Incorrect key: sk-proj-************WXYZ. See", secret), "Incorrect key: [key]. See");
  EXPECT_EQ(without_secret("key=sk-...WXYZ, '***WXYZ', sk-proj-01****", secret), "key=[key], '[key]', [key]");
  for (const std::string text : {"and so on... WXYZ", "a ***b, **WXYZ, abc***WXY", "sk-***"})
    EXPECT_EQ(without_secret(text, secret), text);
  EXPECT_EQ(without_secret("***MPTY", "EMPTY"), "***MPTY");
}

TEST(WithoutSecret, PartsAndShortOnes_StayAsTheyAre) {
  EXPECT_EQ(without_secret("sk/1+ \\ % %2 \\u00", "sk/1+2"), "sk/1+ \\ % %2 \\u00");
  EXPECT_EQ(without_secret("abc", "ab"), "abc");
  EXPECT_EQ(without_secret("abc", ""), "abc");
}

TEST(LineEnds, OfOneKind_BecomeTheOther) {
  EXPECT_EQ(with_line_ends_of("a\nb\n", "1\r\n\r\n2\r\n"), "1\n\n2\n");
  EXPECT_EQ(with_line_ends_of("a\r\nb\r\n", "1\n\n2"), "1\r\n\r\n2");
}

TEST(LineEnds, MixedOrAlike_Stay) {
  for (const std::string text : {"1\n2\n", "1\r\n2\n", "1", ""}) EXPECT_EQ(with_line_ends_of("a\n", text), text);
  for (const std::string text : {"1\r\n2\r\n", "1\r\n2\n"}) EXPECT_EQ(with_line_ends_of("a\r\n", text), text);
  for (const std::string text : {"1\r\n2\r\n", "1\n2\n"}) {
    EXPECT_EQ(with_line_ends_of("a\r\nb\n", text), text);
    EXPECT_EQ(with_line_ends_of("a", text), text);
  }
}

TEST(Percent, Encoded_IsReadBack) {
  EXPECT_EQ(percent_encoded("a-B_9.~"), "a-B_9.~");
  EXPECT_EQ(percent_encoded("a/b c\x1b\xe2\x80\xae%"), "a%2fb%20c%1b%e2%80%ae%25");
  EXPECT_EQ(percent_decoded("a%2Fb%20c%1b%e2%80%ae%25"), "a/b c\x1b\xe2\x80\xae%");
  for (const std::string text : {"%", "%2", "%zz", "100%", "a+b"}) EXPECT_EQ(percent_decoded(text), text);
}

TEST(FirstLine, OfATextOrFile_WithoutItsEnd) {
  EXPECT_EQ(first_line("one\ntwo"), "one");
  EXPECT_EQ(first_line("one"), "one");
  EXPECT_EQ(first_line("\ntwo"), "");
  EXPECT_EQ(first_line("one\ntwo", 2), "on");
  EXPECT_EQ(first_line("one\ntwo", 9), "one");
  const auto folder = TemporaryFolder::create("accelopt-text-test");
  ASSERT_TRUE(folder && write_file(folder->path() / "lines", "one\ntwo\n"));
  EXPECT_EQ(first_line_of_file(folder->path() / "lines"), "one");
  EXPECT_EQ(first_line_of_file(folder->path() / "missing"), "");
}

}  // namespace
}  // namespace accelopt::base
