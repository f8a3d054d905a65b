// SPDX-License-Identifier: Apache-2.0
#include "refactor/test_reports.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "refactor/report_lines.hpp"
#include "refactor/tap_report.hpp"
#include "refactor/unittest_report.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::size_t kMostTests = 200'000;
constexpr std::size_t kLongestName = 500;  ///< bytes, of tests
constexpr std::size_t kNumberLength = 8;   ///< of " #200000"

/// The value of an attribute of an XML tag.
std::string_view attribute(std::string_view tag, std::string_view name) {
  const std::string mark = " " + std::string(name) + "=\"";
  const std::size_t at = tag.find(mark);
  if (at == tag.npos) return {};
  const std::string_view rest = tag.substr(at + mark.size());
  return rest.substr(0, std::min(rest.find('"'), rest.size()));
}

TestOutcomes read_junit(std::string_view text) {
  NumberedOutcomes outcomes;
  constexpr std::string_view kCase = "<testcase";
  // The report may be the change's own work: every character is looked at a few times, whatever it says.
  for (std::size_t at = text.find(kCase), next = 0; at < text.size(); at = next) {
    next = std::min(text.find(kCase, at + kCase.size()), text.size());
    const std::string_view whole = text.substr(at, next - at);
    const std::size_t tag_end = whole.find('>');
    if (tag_end == whole.npos) continue;
    const std::string_view tag = whole.substr(0, tag_end);
    const std::string_view inside = tag.ends_with('/') ? "" : whole.substr(tag_end);
    const bool failed = inside.find("<failure") != inside.npos || inside.find("<error") != inside.npos;
    const bool skipped = inside.find("<skipped") != inside.npos;
    outcomes.note(std::string(attribute(tag, "classname")) + "::" + std::string(attribute(tag, "name")),
                  failed    ? TestOutcome::failed
                  : skipped ? TestOutcome::skipped
                            : TestOutcome::passed);
  }
  return outcomes.take();
}

TestOutcomes read_go(std::string_view text) {
  NumberedOutcomes outcomes;
  std::set<std::string> explained;  // packages of which a test fails
  each_line(text, [&](std::string_view line) {
    const auto event = base::parse_json(line, "a test's event");
    if (!event || !event->is_object()) return;
    const std::string package = base::text_at(*event, "Package");
    const std::string test = base::text_at(*event, "Test");
    const std::string action = base::text_at(*event, "Action");
    if (action != "pass" && action != "fail" && action != "skip") return;
    if (!test.empty()) {
      outcomes.note(package + "::" + test, action == "pass"   ? TestOutcome::passed
                                           : action == "fail" ? TestOutcome::failed
                                                              : TestOutcome::skipped);
      if (action == "fail") explained.insert(package);
    } else if (action == "fail" && !explained.contains(package)) {
      outcomes.note("package " + package, TestOutcome::failed);  // a leak that TestMain finds, an end by os.Exit
    }
  });
  return outcomes.take();
}

/// Of XML's five named characters and line ends.
std::string without_entities(std::string_view text) {
  constexpr auto kEntities = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"&#10;", "\n"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}});
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto found = std::ranges::find_if(kEntities, [&](const auto& one) { return rest.starts_with(one.first); });
    out += found == kEntities.end() ? rest.substr(0, 1) : found->second;
    at += found == kEntities.end() ? 1 : found->first.size();
  }
  return out;
}

}  // namespace

void note_outcome(TestOutcomes& outcomes, std::string_view name, TestOutcome outcome) {
  if (name.empty() || outcomes.size() >= kMostTests) return;
  const auto [place, is_new] = outcomes.emplace(std::string(name.substr(0, kLongestName + kNumberLength)), outcome);
  if (!is_new && (outcome == TestOutcome::failed || place->second == TestOutcome::passed)) place->second = outcome;
}

void NumberedOutcomes::note(std::string_view name, TestOutcome outcome) {
  if (name.empty() || outcomes_.size() >= kMostTests) return;
  name = name.substr(0, kLongestName);
  const int times = ++times_[std::string(name)];
  note_outcome(outcomes_, times == 1 ? std::string(name) : fmt::format("{} #{}", name, times), outcome);
}

std::string first_failure(std::string_view junit) {
  std::size_t at = junit.find("<failure");
  if (at == junit.npos) at = junit.find("<error");
  const std::size_t tag_end = at == junit.npos ? junit.npos : junit.find('>', at);
  if (tag_end == junit.npos) return {};
  const std::string_view tag = junit.substr(at, tag_end - at);
  std::string_view inside = tag.ends_with('/') ? "" : junit.substr(tag_end + 1);
  inside = inside.substr(0, std::min(inside.find("</"), inside.size()));
  constexpr std::size_t kMost = 1500;
  const std::string said = without_entities(attribute(tag, "message").substr(0, kMost));
  // A traceback says at its end what was wrong.
  const std::string text = without_entities(base::trimmed(inside));
  return said + (said.empty() || text.empty() ? "" : "\n") + text.substr(text.size() > kMost ? text.size() - kMost : 0);
}

TestOutcomes read_test_report(TestFormat format, std::string_view report, TestOutcome command) {
  switch (format) {
    case TestFormat::junit:
      return read_junit(report);
    case TestFormat::tap:
      return read_tap_report(report);
    case TestFormat::go_json:
      return read_go(report);
    case TestFormat::unittest:
      return read_unittest_report(report).outcomes;
    case TestFormat::exit:
      break;
  }
  return {{"the test command", command}};
}

std::string contradiction_in(TestFormat format, std::string_view report) {
  return format == TestFormat::unittest ? read_unittest_report(report).contradiction : "";
}

}  // namespace accelopt::refactor
