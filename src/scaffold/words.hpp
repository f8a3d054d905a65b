// SPDX-License-Identifier: Apache-2.0
// The names and numbers of a C-family text, and changing them in place.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::scaffold {

/// An identifier or a number, in preprocessor lines too (but not in #include lines), never in comments and literals.
struct Word {
  std::string text;
  std::size_t offset = 0;
  bool is_number = false;
  bool is_qualified = false;  ///< stands after `.`, `->` or `::`
};

std::vector<Word> words(std::string_view source);

/// Whether the name stands in the text as a word of its own.
bool has_word(std::string_view source, std::string_view name);

/// Whether the text assigns, increments, decrements or swaps the variable itself, or takes its address.
bool changes_variable(std::string_view source, std::string_view name);

/// The text with every word replaced for which `change` gives another.
std::string change_words(std::string_view source, const std::function<std::optional<std::string>(const Word&)>& change);

/// How a file's text is kept besides what it says.
struct FileForm {
  bool has_mark = false;     ///< it begins with UTF-8's byte order mark
  bool has_returns = false;  ///< every line ends with a carriage return and a line feed
};

FileForm form_of(std::string_view text);

/// The text without its mark, and with line feeds alone where it has returns everywhere.
std::string plain_text(std::string_view text);

/// A plain text in a file's form.
std::string in_form(const std::string& text, const FileForm& form);

/// The text without comments, and without the lines that hold nothing else.
std::string without_comments(std::string_view source);

/// End of the comment that begins at the offset, the line end of a // comment excluded; the offset where none does.
std::size_t end_of_comment(std::string_view source, std::size_t at);

}  // namespace accelopt::scaffold
