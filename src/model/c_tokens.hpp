// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::model {

/// The tokens of a C-family source that decide its meaning: comments and layout dropped; a preprocessor line is one
/// token (its continuation lines joined, blanks collapsed); a `//@` directive line is one token. Two sources with equal
/// tokens compile to the same program, unless they use __LINE__.
std::vector<std::string> canonical_tokens(std::string_view source);

}  // namespace accelopt::model
