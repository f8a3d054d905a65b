// SPDX-License-Identifier: Apache-2.0
// What a model, a compiler or a stranger wrote, made fit to be shown to a model as data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace accelopt::agents {

// Longest title and longest text of a plan, as read from an answer and as shown again, bytes.
inline constexpr std::size_t kTitleBytes = 160;
inline constexpr std::size_t kPlanBytes = 12'000;

/// Valid UTF-8 of at most about `longest_bytes`, without control characters (line ends and tabs aside), invisible and
/// direction-changing characters, code fences, and what chat formats use to begin and end messages. A cut is marked.
std::string clean(std::string_view text, std::size_t longest_bytes);

/// The same of a piece of code: its bars stay as they are ("x |> f"), but for special tokens (special_tokens.hpp).
std::string clean_code(std::string_view text, std::size_t longest_bytes);

/// clean() on one line: line ends and runs of blanks become one blank.
std::string clean_line(std::string_view text, std::size_t longest_bytes);

/// Cleaned, each line behind "| ", without a line end after the last; "| (empty)" where nothing is left.
std::string quoted(std::string_view text, std::size_t longest_bytes);

/// Lines of a file as fenced() shows them, each behind "| ", to be copied; without control and invisible characters.
std::string quoted_lines(std::string_view source, std::size_t longest_bytes);

/// A file in a code fence that is longer than any run of backticks in it. The text stays as it is, but for special
/// tokens of chat templates ("<|im_start|>"), which are broken up (special_tokens.hpp).
std::string fenced(std::string_view text, std::string_view info);

/// Whether the text has characters that no source file needs and that can make it look other than it is: control
/// characters, and those that change the direction of writing.
bool has_deceptive_characters(std::string_view text);

}  // namespace accelopt::agents
