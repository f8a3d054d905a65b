// SPDX-License-Identifier: Apache-2.0
// Whether a reviewer finds simpler code easier to read than what it replaces.
#pragma once

#include <filesystem>
#include <string>

#include "base/outcome.hpp"
#include "model/usage.hpp"
#include "refactor/checker.hpp"
#include "review/reviewer.hpp"

namespace accelopt::app {

/// What a reviewer is shown of a file: the functions that differ, or the whole where it tells none.
std::string shown_text(const refactor::CodeLanguage& language, const std::string& before, const std::string& after,
                       const std::string& of);

/// The new text without lines of comments that the old one has not: they speak to the reader, and are no code.
std::string without_new_comments(const refactor::CodeLanguage& language, const std::string& before,
                                 const std::string& after);

/// Asks in both orders about a change that is simpler, and notes the answer in its readability; nothing for any other.
/// Of a reviewer who only advises it is noted that he is not calibrated.
/// `base`: the base's text of a file. @error as review::ask_readable.
base::Outcome<model::Usage> ask_preference(const review::Asking& asking, review::Weight weight,
                                           const refactor::CodeLanguage& language,
                                           const std::function<base::Result<std::string>(const std::string&)>& base,
                                           refactor::CheckResult& result);

}  // namespace accelopt::app
