// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::targets::cpu {

/// What a compiler or linker said, cut down to the candidate's own files (`own`, plain names): no paths, nothing of
/// other files' text, at most a few thousand characters.
std::string own_diagnostics(std::string_view output, const std::vector<std::string>& own);

/// The vectorizer's remarks on the candidate's own lines, each once, in line order, at most `most`:
/// "line 12: loop vectorized using 32 byte vectors".
std::vector<std::string> own_remarks(std::string_view output, const std::vector<std::string>& own, std::size_t most);

}  // namespace accelopt::targets::cpu
