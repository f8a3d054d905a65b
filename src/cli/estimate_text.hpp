// SPDX-License-Identifier: Apache-2.0
// Estimates as people read them.
#pragma once

#include <string>
#include <vector>

#include "search/estimate.hpp"

namespace accelopt::cli {

/// A table: calls, tokens, dollars, evaluations, device time, wall time, each with its range.
std::string describe(const search::Estimate& estimate);

/// The same in one sentence, without what it rests on.
std::string estimate_line(const search::Estimate& estimate);

std::string describe(const std::vector<search::Comparison>& comparisons);
/// The same in one line: "estimated and used: 15 and 34 evaluations, ..."; what lies outside of its range has a "(!)".
std::string beside_text(const std::vector<search::Comparison>& comparisons);

}  // namespace accelopt::cli
