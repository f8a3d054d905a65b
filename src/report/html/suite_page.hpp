// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/suite_history.hpp"

namespace accelopt::report::html {

/// The report of a workspace's suite runs, oldest first in `history`, as one HTML document: the last one's tasks, suite
/// runs that are alike over time, memory cold beside warm, and every task of every suite run in tables.
std::string suite_page(const std::vector<SuiteHistoryEntry>& history);

}  // namespace accelopt::report::html
