// SPDX-License-Identifier: Apache-2.0
#include "refactor/base_tests.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::size_t kNamedTests = 5;

/// Up to five names.
std::string some(const std::vector<std::string>& names) {
  std::string text =
      base::joined(std::vector<std::string>(
                       names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamedTests))),
                   ", ", [](const std::string& name) { return base::ascii_line(name, 120); });
  if (names.size() > kNamedTests) text += fmt::format(" and {} more", names.size() - kNamedTests);
  return text;
}

bool fails(const TestRun& run, const std::string& name) {
  const auto found = run.outcomes.find(name);
  return found != run.outcomes.end() && found->second == TestOutcome::failed;
}

bool has_exited(const TestRun& run) {
  return run.end.starts_with("exit");
}

}  // namespace

std::string unread_report(TestFormat format, const JailedResult& process) {
  const bool errors = format == TestFormat::unittest;
  const bool output = format == TestFormat::tap || format == TestFormat::go_json;
  if (!(errors && process.errors_dropped) && !(output && process.output_dropped)) return "";
  return fmt::format("more than {} MiB were written to standard {}, where the report is; let the tests write less",
                     (errors ? process.errors : process.output).size() >> 20, errors ? "error" : "output");
}

BaseTests::BaseTests(const std::vector<TestRun>& runs) {
  std::map<std::string, std::vector<TestOutcome>> seen;
  for (const TestRun& run : runs) {
    for (const auto& [name, outcome] : run.outcomes) seen[name].push_back(outcome);
  }
  for (const auto& [name, outcomes] : seen) {
    names_.insert(name);
    const bool same = std::ranges::adjacent_find(outcomes, std::not_equal_to<>()) == outcomes.end();
    if (!same || outcomes.size() != runs.size()) {
      flaky_.push_back(name);
    } else if (outcomes.front() == TestOutcome::passed) {
      passing_.emplace(name, TestOutcome::passed);
    } else {
      const bool failed = outcomes.front() == TestOutcome::failed;
      if (failed) failing_.insert(name);
      not_passing_.push_back(name + (failed ? " (fails)" : " (skipped)"));
    }
  }
  for (const TestRun& run : runs) {
    if (!fails_at_times(run)) ends_.insert(run.end);
  }
  if (ends_.empty() && !runs.empty()) ends_.insert(runs.front().end);
}

bool BaseTests::fails_at_times(const TestRun& run) const {
  return std::ranges::any_of(run.outcomes, [&](const auto& test) {
    return test.second == TestOutcome::failed && !failing_.contains(test.first);
  });
}

std::vector<std::string> BaseTests::wrong_in(const TestRun& run) const {
  std::vector<std::string> wrong;
  for (const auto& [name, outcome] : passing_) {
    const auto found = run.outcomes.find(name);
    if (found == run.outcomes.end() || found->second != TestOutcome::passed) wrong.push_back(name);
  }
  for (const auto& [name, outcome] : run.outcomes) {
    if (outcome == TestOutcome::failed && !names_.contains(name)) wrong.push_back(name);
  }
  return wrong;
}

bool BaseTests::ends_well(const TestRun& run) const {
  if (run.end == "exit 0" || ends_.contains(run.end)) return true;
  return has_exited(run) && fails_at_times(run);
}

void BaseTests::excuse(TestRun& run, const TestRun& last) const {
  const std::vector<std::string> still = wrong_in(last);
  for (const std::string& name : wrong_in(run)) {
    if (std::ranges::find(still, name) != still.end()) continue;
    if (passing_.contains(name))
      run.outcomes[name] = TestOutcome::passed;
    else
      run.outcomes.erase(name);
  }
  if (ends_well(last)) run.end = *ends_.begin();
}

void BaseTests::set_aside(const std::vector<std::string>& wrong, const TestRun& base, const TestRun& base_again) {
  // A run that did not end says nothing.
  if (!has_exited(base) || !has_exited(base_again)) return;
  if (base.end == base_again.end && !ends_well(base) && !ends_well(base_again)) ends_.insert(base.end);
  for (const std::string& name : wrong) {
    const bool is_last = passing_.size() == 1 && passing_.contains(name);
    if (!fails(base, name) || !fails(base_again, name) || is_last) continue;
    flaky_.push_back(name);
    names_.insert(name);
    passing_.erase(name);
  }
}

std::vector<std::string> BaseTests::problems(const TestRun& run) const {
  if (!run.unread.empty()) return {run.unread};
  std::vector<std::string> missing;
  std::vector<std::string> failed;
  std::vector<std::string> skipped;
  for (const auto& [name, outcome] : passing_) {
    const auto found = run.outcomes.find(name);
    if (found == run.outcomes.end())
      missing.push_back(name);
    else if (found->second == TestOutcome::failed)
      failed.push_back(name);
    else if (found->second == TestOutcome::skipped)
      skipped.push_back(name);
  }
  std::vector<std::string> added;
  std::vector<std::string> added_failed;
  for (const auto& [name, outcome] : run.outcomes) {
    if (!names_.contains(name)) (outcome == TestOutcome::failed ? added_failed : added).push_back(name);
  }
  std::vector<std::string> problems;
  const auto tell = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) problems.push_back(fmt::format("{} tests {}: {}", names.size(), what, some(names)));
  };
  tell("that passed on the base fail", failed);
  tell("that the base has not fail", added_failed);
  tell("that passed on the base did not run", missing);
  tell("that passed on the base are skipped", skipped);
  tell("are there that the base has not", added);
  if (!ends_well(run)) {
    problems.push_back(
        fmt::format("the test command ended by {}, and by {} on the base", run.end, base::joined(ends_, " or ")));
  }
  if (problems.empty() && !run.contradiction.empty()) problems.push_back(run.contradiction);
  if (!problems.empty()) problems.push_back(run.end + ": " + base::ascii_line(run.said, 800, ' '));
  return problems;
}

std::string describe_not_passing(const std::vector<std::string>& tests) {
  if (tests.empty()) return "";
  return fmt::format("{} tests do not pass on the base, and hold no change: {}", tests.size(), some(tests));
}

}  // namespace accelopt::refactor
