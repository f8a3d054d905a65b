// SPDX-License-Identifier: Apache-2.0
#include "refactor/tap_report.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "refactor/report_lines.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::size_t kTapIndent = 4;  ///< of a subtest's results, per level
constexpr std::size_t kDeepestSubtest = 16;
constexpr std::size_t kLongestTapName = 500;
constexpr std::int64_t kMostPlanned = 1'000'000'000;

/// "ok 3 - name # SKIP why", "not ok 4 - name".
struct TapPoint {
  std::size_t level = 0;
  std::string name;
  TestOutcome outcome = TestOutcome::passed;
};

std::size_t digits_at_start(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// `line`: without its indent.
std::optional<TapPoint> tap_point(std::string_view line, std::size_t level) {
  const bool failed = line.starts_with("not ok ");
  if (!failed && !line.starts_with("ok ")) return std::nullopt;
  std::string_view rest = line.substr(failed ? 7 : 3);
  const std::string_view number = rest.substr(0, digits_at_start(rest));
  // Within a subtest every program numbers them: what a test writes looks less like one.
  if (level > 0 && number.empty()) return std::nullopt;
  rest.remove_prefix(number.size());
  const std::size_t mark = rest.find(" # ");
  const std::string directive = mark == rest.npos ? "" : base::lower(rest.substr(mark + 3));
  std::string_view name = base::trimmed(rest.substr(0, mark));
  if (name == "-" || name.starts_with("- ")) name = base::trimmed(name.substr(1));
  if (name.empty()) name = number;
  // To TAP, a test that is still to do fails nothing.
  const bool skipped = directive.starts_with("skip") || (failed && directive.starts_with("todo"));
  return TapPoint{level, std::string(name.substr(0, kLongestTapName)),
                  skipped  ? TestOutcome::skipped
                  : failed ? TestOutcome::failed
                           : TestOutcome::passed};
}

class TapReader {
 public:
  void read(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) return;
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view body = line.substr(indent);
    if (is_of_diagnostics(indent, body)) return;
    settle_brace(indent);
    if (body.starts_with("Bail out!")) bailed_out_ = true;
    if (indent % kTapIndent != 0 || indent / kTapIndent > kDeepestSubtest) return;
    const std::size_t level = indent / kTapIndent;
    constexpr std::string_view kSubtest = "# Subtest: ";
    if (body.starts_with(kSubtest)) {
      begun_.resize(level);
      begun_.emplace_back(body.substr(kSubtest.size(), kLongestTapName));
    } else if (body == "}") {
      close_brace(level);
    } else if (level == 0 && read_plan(body)) {
      return;
    } else if (auto point = tap_point(body, level)) {
      point_indent_ = indent;
      if (body.ends_with(" {"))
        at_brace_ = std::move(*point);
      else
        add(std::move(*point));
    }
  }

  TestOutcomes finish() {
    settle_brace(0);
    // Its subtest did not come to its end.
    for (TapPoint& point : within_) {
      for (std::size_t level = std::min(point.level, begun_.size()); level-- > 0;) {
        if (!begun_[level].empty()) put_in_front(begun_[level], point);
      }
      outcomes_.note(point.name, point.outcome);
    }
    if ((results_ > 0 || planned_ || bailed_out_) && (bailed_out_ || planned_ != results_))
      outcomes_.note(kTapPlan, TestOutcome::failed);
    return outcomes_.take();
  }

 private:
  /// Whether the line belongs to the YAML block behind a result, which may hold text of any form.
  bool is_of_diagnostics(std::size_t indent, std::string_view body) {
    const auto point_indent = std::exchange(point_indent_, std::nullopt);
    if (yaml_indent_ && indent >= *yaml_indent_) {
      if (indent == *yaml_indent_ && body == "...") yaml_indent_.reset();
      return true;
    }
    yaml_indent_.reset();
    if (!point_indent || body != "---" || indent != *point_indent + 2) return false;
    yaml_indent_ = indent;
    return true;
  }

  bool read_plan(std::string_view body) {
    if (!body.starts_with("1..")) return false;
    const std::string_view rest = body.substr(3);
    const std::size_t digits = digits_at_start(rest);
    if (digits == 0 || (digits < rest.size() && rest[digits] != ' ')) return false;
    std::int64_t count = 0;
    for (const char digit : rest.substr(0, digits)) count = std::min(kMostPlanned, count * 10 + (digit - '0'));
    planned_ = planned_.value_or(0) + count;
    return true;
  }

  /// "ok 1 - suite {" stands before its results, which "}" ends; or else the brace is of its name.
  void settle_brace(std::size_t next_indent) {
    auto point = std::exchange(at_brace_, std::nullopt);
    if (!point) return;
    if (next_indent != (point->level + 1) * kTapIndent) return add(std::move(*point));
    if (point->name.ends_with(" {")) point->name.resize(point->name.size() - 2);
    braces_.push_back(std::move(*point));
  }

  void close_brace(std::size_t level) {
    while (!braces_.empty() && braces_.back().level > level) braces_.pop_back();
    if (braces_.empty() || braces_.back().level != level) return;
    TapPoint point = std::move(braces_.back());
    braces_.pop_back();
    add(std::move(point));
  }

  static void put_in_front(const std::string& name, TapPoint& point) {
    point.name = (name + " > " + point.name).substr(0, kLongestTapName);
  }

  void add(TapPoint point) {
    if (point.level == 0) ++results_;
    const auto is_outside = [&](const TapPoint& one) { return one.level <= point.level; };
    const auto first = std::find_if(within_.rbegin(), within_.rend(), is_outside).base();
    const auto fails = [](const TapPoint& one) { return one.outcome == TestOutcome::failed; };
    const bool has_own = first == within_.end() || (fails(point) && std::none_of(first, within_.end(), fails));
    for (auto one = first; one != within_.end(); ++one) {
      put_in_front(point.name, *one);
      one->level = point.level;
    }
    if (has_own) within_.push_back(std::move(point));
    if (within_.empty() || within_.front().level > 0) return;
    for (const TapPoint& one : std::exchange(within_, {})) outcomes_.note(one.name, one.outcome);
  }

  NumberedOutcomes outcomes_;
  std::vector<TapPoint> within_;             ///< subtests that go on
  std::vector<TapPoint> braces_;             ///< that are open
  std::optional<TapPoint> at_brace_;         ///< the last line
  std::vector<std::string> begun_;           ///< subtests, by level
  std::optional<std::size_t> point_indent_;  ///< of the last line, where it is a result
  std::optional<std::size_t> yaml_indent_;   ///< of the block that goes on
  std::optional<std::int64_t> planned_;
  std::int64_t results_ = 0;
  bool bailed_out_ = false;
};

}  // namespace

TestOutcomes read_tap_report(std::string_view text) {
  TapReader reader;
  each_line(text, [&reader](std::string_view line) { reader.read(line); });
  return reader.finish();
}

}  // namespace accelopt::refactor
