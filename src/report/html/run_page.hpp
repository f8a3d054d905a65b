// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/run_story.hpp"

namespace accelopt::report::html {

/// The report of one run as one HTML document: the answer, the plots with their tables, the candidates, the winning
/// change beside the baseline, what failed, what was learned, what it cost, and the machine.
std::string run_page(const RunStory& story);

}  // namespace accelopt::report::html
