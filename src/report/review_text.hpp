// SPDX-License-Identifier: Apache-2.0
// What a reviewer and a tester found in a critical run, told from the run's result (docs/json.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace accelopt::report {

/// A sentence each: who judged, what became of each finalist, each pair, the choice. None where nobody reviewed.
std::vector<std::string> review_lines(const base::Json& result);
/// The same of tests that a tester wrote.
std::vector<std::string> tests_lines(const base::Json& result);
/// What a choice rests on, by its name in a review: "the clock does not separate it from others, ..."; empty: unknown.
std::string review_reason(std::string_view name);

}  // namespace accelopt::report
