// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

namespace accelopt::base {

/// "line 7", "lines 3 to 5, 9"; more than four ranges as one, from the first line to the last. Empty where there are
/// none.
std::string lines_text(const std::set<int>& lines);

}  // namespace accelopt::base
