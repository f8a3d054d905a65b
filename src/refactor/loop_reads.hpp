// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "refactor/languages.hpp"

namespace accelopt::refactor {

/// Whether the loop of C or C++ whose `for` or `while` is the first token behind `offset` of this function's body, with
/// its header, only reads the string of this name: its elements, or the whole in a call that is known to write nothing.
/// A name that the function assigns it to, or from, counts as it does. What cannot be told is no.
/// Another parameter may still point to the same string.
bool only_reads_text(const CodeLanguage& language, std::string_view body, std::size_t offset, const std::string& name);

}  // namespace accelopt::refactor
