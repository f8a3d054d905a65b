// SPDX-License-Identifier: Apache-2.0
// What a project's test command says of each test. The text comes from a process that runs a candidate: it is hostile.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "refactor/task.hpp"

namespace accelopt::refactor {

enum class TestOutcome { passed, failed, skipped };
/// By the tests' names.
using TestOutcomes = std::map<std::string, TestOutcome>;

/// Adds a test, or makes its outcome worse. Empty names, and tests over 200000, are passed over.
void note_outcome(TestOutcomes& outcomes, std::string_view name, TestOutcome outcome);

/// Collects outcomes. A name that comes again is a test of its own, "name #2", so that none can take another's place.
class NumberedOutcomes {
 public:
  /// Passes over what note_outcome does.
  void note(std::string_view name, TestOutcome outcome);
  TestOutcomes take() { return std::move(outcomes_); }

 private:
  TestOutcomes outcomes_;
  std::map<std::string, int> times_;
};

/// Reads a report; what it does not understand is passed over. `command`: the outcome of the one test of format exit.
/// Besides tests there is what fails as a whole, and never passes: "package NAME" of Go, of which no test failed, and
/// the plan of TAP (tap_report.hpp).
TestOutcomes read_test_report(TestFormat format, std::string_view report, TestOutcome command);

/// In what a report contradicts its own summary, so that what is read from it may be wrong. Empty: in nothing, or it
/// has none; only unittest's is read.
std::string contradiction_in(TestFormat format, std::string_view report);

/// What a JUnit report says of the first test that failed: its message and the end of its text. Empty: nothing.
std::string first_failure(std::string_view junit);

}  // namespace accelopt::refactor
