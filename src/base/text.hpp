// SPDX-License-Identifier: Apache-2.0
// Texts of strangers: UTF-8 taken apart, and the little things that everybody does with lines.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::base {

/// One character of a UTF-8 text. Bytes that are not UTF-8 are one invalid character each.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The first character; overlong forms, surrogates and what lies above U+10FFFF are invalid. `text` may not be empty.
Character first_character(std::string_view text);

/// C0 and C1 control characters, but for tabs and line ends.
bool is_control(char32_t c);
/// Characters that change the direction of writing: they show a text in another order than it has.
bool changes_direction(char32_t c);
/// Characters that take no place on a screen: text could hide in them.
bool is_invisible(char32_t c);

/// How chat formats begin and end messages, in small letters; one that begins with a line end counts only there.
inline constexpr auto kMessageMarks = std::to_array<std::string_view>(
    {"<|",           "|>",     "[inst",     "[/inst",     "<<sys",        "<</sys",       "<system",
     "</system",     "<user",  "</user",    "<assistant", "</assistant",  "<instruction", "</instruction",
     "<tool",        "</tool", "<function", "</function", "<think",       "</think",      "<start_of_turn",
     "<end_of_turn", "<s>",    "</s>",      "\nsystem:",  "\nassistant:", "\nuser:",      "\nhuman:"});

/// Blanks and line ends.
inline constexpr std::string_view kBlanks = " \t\r\n";
/// Without the blanks around it.
std::string_view trimmed(std::string_view text, std::string_view blanks = kBlanks);
/// The words of a text, without the blanks and line ends around them.
std::vector<std::string_view> split_words(std::string_view text);
/// Whether one of them is `word`.
bool has_word(std::string_view text, std::string_view word);
/// The texts, or what `text_of` makes of each, with the separator in between.
template <class Range, class TextOf = std::identity>
std::string joined(const Range& range, std::string_view separator, const TextOf& text_of = {}) {
  std::string out;
  for (const auto& one : range) {
    if (!out.empty()) out += separator;
    out += std::invoke(text_of, one);
  }
  return out;
}
/// Whether it may stand in a name of C or Python: a letter or digit of ASCII, or an underscore.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/// The texts in double quotes, as a list of Python or TOML: ["a", "b"]. Nothing in them is escaped.
std::string quoted_list(const std::vector<std::string>& texts);
/// With the ASCII letters small, whatever the locale.
std::string lower(std::string_view text);
/// The first line without its end, cut to `most` bytes.
std::string_view first_line(std::string_view text, std::size_t most = std::string_view::npos);
/// The first line of a file without its end; empty where it cannot be read.
std::string first_line_of_file(const std::filesystem::path& file);
/// Where one of the two has lines that all end in "\r\n", and the other none: the text with the line ends of `model`.
std::string with_line_ends_of(std::string_view model, std::string text);
/// The first `most` bytes with `instead` for every byte that is not printable ASCII: another's words in one line of
/// ours.
std::string ascii_line(std::string_view text, std::size_t most, char instead = '?');

/// With "%2f" for each byte that may not stand in a segment of an address as it is: letters, digits and -._~ may.
std::string percent_encoded(std::string_view text);
/// "a b/c" of "a%20b%2fc". Anything that is no such sequence stays as it is.
std::string percent_decoded(std::string_view text);

/// The text with "[key]" wherever the secret stands, as it is or with any of its bytes escaped as in JSON or
/// percent-encoded, or with its middle masked ("sk-proj-****WXYZ"). To be called before a text is cut, or half of the
/// secret may stay. A secret of less than three bytes would spoil any text, and is left in.
std::string without_secret(std::string_view text, std::string_view secret);

}  // namespace accelopt::base
