// SPDX-License-Identifier: Apache-2.0
// What a project's test command says of each test. The text comes from a process that runs a candidate: it is hostile.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "refactor/task.hpp"

namespace accelopt::refactor {

enum class TestOutcome { passed, failed, skipped };
/// By the tests' names. A name that is reported twice has its worst outcome.
using TestOutcomes = std::map<std::string, TestOutcome>;

/// Adds a test, or makes its outcome worse. Empty names, and tests over 200000, are passed over.
void note_outcome(TestOutcomes& outcomes, std::string_view name, TestOutcome outcome);

/// Reads a report; what it does not understand is passed over. `succeeded`: of the command, the one test of format
/// exit.
TestOutcomes read_test_report(TestFormat format, std::string_view report, TestOutcome command);

/// In what a report contradicts its own summary, so that what is read from it may be wrong. Empty: in nothing, or it
/// has none; only unittest's is read.
std::string contradiction_in(TestFormat format, std::string_view report);

/// What a JUnit report says of the first test that failed: its message and the end of its text. Empty: nothing.
std::string first_failure(std::string_view junit);

}  // namespace accelopt::refactor
