// SPDX-License-Identifier: Apache-2.0
// What a test command that speaks TAP writes to standard output. The text comes from a process that runs a candidate.
#pragma once

#include <string_view>

#include "refactor/test_reports.hpp"

namespace accelopt::refactor {

/// Fails where a report has no plan, more or fewer results than its plans have together, or "Bail out!"; it never
/// passes.
constexpr std::string_view kTapPlan = "the plan 1..N";

/// Results within a subtest have its name in front, "suite > test", up to 16 levels deep. The subtest's own result is
/// left out, unless it fails and no result within it does.
TestOutcomes read_tap_report(std::string_view text);

}  // namespace accelopt::refactor
