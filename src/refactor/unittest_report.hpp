// SPDX-License-Identifier: Apache-2.0
// What `python3 -m unittest -v` writes to standard error. The text comes from a process that runs a candidate.
#pragma once

#include <string>
#include <string_view>

#include "refactor/test_reports.hpp"

namespace accelopt::refactor {

struct UnittestReport {
  TestOutcomes outcomes;
  /// In what the lines of the tests contradict unittest's own summary, "Ran N tests" and OK or FAILED; empty: in
  /// nothing, or there is no summary.
  std::string contradiction;
};

/// A test is named by the line that unittest writes of it, "test_x (module.Case.test_x)", not by its docstring. What a
/// test writes itself may stand between its name and its outcome, on the same line as well.
UnittestReport read_unittest_report(std::string_view text);

}  // namespace accelopt::refactor
