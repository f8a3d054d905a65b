// SPDX-License-Identifier: Apache-2.0
// What the base's own tests do on the base, and what is wrong in a run of a change beside that. Runs nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "refactor/jail.hpp"
#include "refactor/test_reports.hpp"

namespace accelopt::refactor {

/// One run of the test command.
struct TestRun {
  TestOutcomes outcomes;  ///< none where the report is not read
  std::string end;        ///< JailedResult's
  double cpu_seconds = 0;
  std::string said;             ///< why tests failed, as far as the report or the program's output tells
  std::string contradiction{};  ///< of the report with its own summary; empty: none
  std::string unread{};         ///< why the report is not read; empty: it is
};

/// That the run wrote more than is kept of it, where the report is; empty: it did not.
std::string unread_report(TestFormat format, const JailedResult& process);

class BaseTests {
 public:
  BaseTests() = default;
  /// Of runs of the base.
  explicit BaseTests(const std::vector<TestRun>& runs);

  /// How many hold a change: they passed in each run.
  [[nodiscard]] int count() const { return static_cast<int>(passing_.size()); }
  /// Set aside: their outcomes vary.
  [[nodiscard]] const std::vector<std::string>& flaky() const { return flaky_; }
  /// "NAME (fails)", "NAME (skipped)".
  [[nodiscard]] const std::vector<std::string>& not_passing() const { return not_passing_; }

  /// Tests that hold a change and did not pass in a run of it, and what fails there that the base has not.
  [[nodiscard]] std::vector<std::string> wrong_in(const TestRun& run) const;
  /// Whether the command itself ended as on the base, by exit 0, or by another exit code where a test failed that does
  /// not always fail on the base.
  [[nodiscard]] bool ends_well(const TestRun& run) const;
  /// Counts as right in `run` what was wrong there and is right in `last`, which is a later one.
  void excuse(TestRun& run, const TestRun& last) const;
  /// Sets aside what two more runs of the base fail as well, of what was wrong in a run of a change.
  void set_aside(const std::vector<std::string>& wrong, const TestRun& base, const TestRun& base_again);

  /// What is wrong in a run of a change, with names; empty: nothing.
  [[nodiscard]] std::vector<std::string> problems(const TestRun& run) const;

 private:
  /// Whether a test failed that does not always fail on the base, which explains another exit code.
  [[nodiscard]] bool fails_at_times(const TestRun& run) const;

  TestOutcomes passing_;
  std::set<std::string> names_;    ///< of all
  std::set<std::string> failing_;  ///< always
  std::set<std::string> ends_;     ///< of runs where no other test failed; of the first if there are none
  std::vector<std::string> flaky_;
  std::vector<std::string> not_passing_;
};

/// That these tests of the base hold no change, with the names of five; empty: there are none.
std::string describe_not_passing(const std::vector<std::string>& tests);

}  // namespace accelopt::refactor
