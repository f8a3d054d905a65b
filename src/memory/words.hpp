// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/experience.hpp"

namespace accelopt::memory {

/// The different words of a text in lower case, in order of first appearance: letters and digits, three to 40 of them,
/// without those that every kernel has ("for", "int", "const"). Of a long text the first `most`.
std::vector<std::string> words_of(std::string_view text, std::size_t most);

/// What the full-text index holds of an experience: all that it says but the diff.
std::string indexed_text(const model::Experience& experience);

}  // namespace accelopt::memory
