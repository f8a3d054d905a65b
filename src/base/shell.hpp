// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::base {

/// One word of a POSIX shell, in single quotes.
std::string shell_quoted(std::string_view text);
/// The same without quotes where it needs none.
std::string shell_word(std::string_view text);

/// Words of a command as a shell splits them, without a shell: blanks part words; '...' is literal; "..." keeps blanks,
/// \\ and \" in it stand for themselves without the backslash; a backslash elsewhere takes the next character as it is.
/// $, `, *, ~, | and > mean nothing.
/// @error invalid_argument: a quote or a backslash at the end is left open, or there is no word.
Result<std::vector<std::string>> split_command(std::string_view text);

}  // namespace accelopt::base
