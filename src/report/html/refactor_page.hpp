// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/refactor_story.hpp"

namespace accelopt::report::html {

/// The report of one refactoring as one HTML document: the answer, the confirmed times and how they grow, what was
/// tried, the change side by side, the gates with what they found, and how to repeat it.
std::string refactor_page(const RefactorStory& story);

}  // namespace accelopt::report::html
