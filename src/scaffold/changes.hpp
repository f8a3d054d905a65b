// SPDX-License-Identifier: Apache-2.0
// Which parts of a file a patch replaces, and what the others say before and after it.
#pragma once

#include <string>
#include <vector>

#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// What stands at an extent of the old text stands at another of the new one, changed. Either may be empty.
struct Change {
  syntax::Extent before;
  syntax::Extent after;
  bool operator==(const Change&) const = default;
};

/// Two sets of changes, one after the other, as one; each in the order of the text, as the result is.
std::vector<Change> composed(const std::vector<Change>& first, const std::vector<Change>& second);

enum class Side { before, after };

/// One side's text with #line directives, so that its preprocessed form tells changed parts from the others, and has
/// these on the old text's lines. `name`: of the file.
std::string with_marks(const std::string& text, Side side, const std::string& old_text,
                       const std::vector<Change>& changes, const std::string& name);

/// The tokens of a text that a preprocessor made of one with marks: without changed parts and headers of the system.
std::vector<std::string> unchanged_tokens(const std::string& preprocessed);

/// The first difference of two token sequences, with a few tokens around it. Empty: they are equal.
std::string first_difference(const std::vector<std::string>& before, const std::vector<std::string>& after);

}  // namespace accelopt::scaffold
