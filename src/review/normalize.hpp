// SPDX-License-Identifier: Apache-2.0
// Sources as a reviewer sees them: without comments, and all laid out alike, so that neither a claim nor a manner of
// writing tells one author from another.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "refactor/languages.hpp"

namespace accelopt::review {

/// One statement a line, four blanks a level, one blank between tokens where one may be; no comments, documentation
/// strings or empty lines. A language without functions keeps its lines, without blanks at their ends.
std::string normalized(const refactor::CodeLanguage& language, std::string_view source);

/// The unified diff of the normalised texts, file by file in the order of their paths.
std::string normalized_diff(const std::map<std::string, std::string>& before,
                            const std::map<std::string, std::string>& after);

/// Lines that a unified diff adds or takes away.
int changed_lines(std::string_view diff);

}  // namespace accelopt::review
