// SPDX-License-Identifier: Apache-2.0
// What a compiler said about a hostile source, made fit to be shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::syntax {

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// The text with absolute paths shortened to their last part.
std::string without_paths(std::string_view text);

/// The text without characters that a terminal acts on: compilers quote the candidate's lines as they are.
std::string printable(std::string text);

}  // namespace accelopt::syntax
