// SPDX-License-Identifier: Apache-2.0
#include "refactor/unittest_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "refactor/report_lines.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::string_view kMark = " ... ";  ///< between a test's name and its outcome

/// At the end of a line.
struct SaidOutcome {
  TestOutcome outcome = TestOutcome::failed;
  bool alone = false;  ///< nothing stands before it but a name: no test wrote it by chance
};

bool stands_alone(std::string_view before) {
  return base::trimmed(before).empty() || before.ends_with(kMark);
}

std::optional<SaidOutcome> outcome_at_end(std::string_view line) {
  constexpr auto kOutcomeWords = std::to_array<std::pair<std::string_view, TestOutcome>>({
      {"ok", TestOutcome::passed},
      {"expected failure", TestOutcome::passed},
      {"FAIL", TestOutcome::failed},
      {"ERROR", TestOutcome::failed},
      {"unexpected success", TestOutcome::failed},
  });
  line = base::trimmed(line, "\r");
  for (const auto& [word, outcome] : kOutcomeWords) {
    if (line.ends_with(word)) return SaidOutcome{outcome, stands_alone(line.substr(0, line.size() - word.size()))};
  }
  // "skipped 'why'": the reason may hold anything.
  for (const std::string_view skipped : {"skipped '", "skipped \""}) {
    const std::size_t at = line.find(skipped);
    if (at != line.npos && line.size() > at + skipped.size() && line.back() == skipped.back())
      return SaidOutcome{TestOutcome::skipped, stands_alone(line.substr(0, at))};
  }
  return std::nullopt;
}

/// "test_x (module.Case.test_x)" where the text begins with it; or else empty.
std::string_view name_at(std::string_view text) {
  const std::size_t open = text.find(" (");
  if (open == 0 || open == text.npos || text.substr(0, open).find_first_of(" ()") != text.npos) return {};
  const std::size_t close = text.find_first_of(" ()", open + 2);
  return close != text.npos && text[close] == ')' ? text.substr(0, close + 1) : std::string_view();
}

bool is_fixture(std::string_view name) {
  return name.starts_with("setUp") || name.starts_with("tearDown");
}

std::optional<std::int64_t> number_in(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(at + before.size());
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

class UnittestReader {
 public:
  void read(std::string_view line) {
    if (read_summary(line)) return;
    if (read_sub_test(line)) return;
    std::string_view rest = line;
    const std::string header = std::exchange(header_, {});
    if (!header.empty() && line.find(kMark) != line.npos) {
      begin(header, Named::by_unittest);  // this line is its docstring
    } else {
      rest = read_names(line);
      if (!header_.empty()) return;
      if (rest.size() == line.size() && line.find(kMark) != line.npos && may_begin_otherwise())
        begin(std::string(base::trimmed(line.substr(0, line.find(kMark)))), Named::otherwise);
    }
    if (const auto said = outcome_at_end(rest); said && !open_.empty()) (said->alone ? alone_ : within_) = said;
  }

  UnittestReport finish() {
    end();
    // What a test wrote may look like an outcome, which a summary shows.
    for (const std::string& name : doubtful_) {
      if (!ran_) note_outcome(outcomes_, name, TestOutcome::failed);
    }
    return {std::move(outcomes_), contradiction()};
  }

 private:
  enum class Named { by_unittest, otherwise };

  /// Begins the tests that the line begins with. What is left of it; a name alone becomes the header.
  std::string_view read_names(std::string_view rest) {
    bool may_be_header = open_.empty() || has_outcome();
    // Python before 3.11 ends no line behind a test of which sub-tests failed: the next one begins on it.
    for (std::string_view name = name_at(rest); !name.empty(); name = name_at(rest)) {
      const std::string_view behind = rest.substr(name.size());
      if (may_be_header && base::trimmed(behind, "\r").empty()) header_ = name;
      if (!behind.starts_with(kMark)) break;
      begin(std::string(name), Named::by_unittest);
      rest = behind.substr(kMark.size());
      may_be_header = true;
    }
    return rest;
  }

  [[nodiscard]] bool has_outcome() const { return alone_ || within_ || has_sub_tests_; }

  /// Whether a line without a name of unittest's form may begin a test, as other programs write it.
  [[nodiscard]] bool may_begin_otherwise() const {
    return !in_details_ && (open_.empty() || named_ == Named::otherwise || alone_);
  }

  void begin(std::string name, Named named) {
    end();
    in_details_ = false;
    if (named == Named::otherwise)
      ++begun_otherwise_;
    else if (name == last_)
      ++repeated_;  // an error of tearDown is written after the outcome, with the name once more
    else if (!is_fixture(name))
      ++begun_;
    last_ = name;
    open_ = std::move(name);
    named_ = named;
  }

  void end() {
    if (open_.empty()) return;
    const std::string name = std::exchange(open_, {});
    const auto said = alone_ ? alone_ : within_;
    if (sub_test_failed_) {
      note_outcome(outcomes_, name, TestOutcome::failed);  // its sub-tests are counted
    } else if (said) {
      note(name, said->outcome);
      if (!alone_) doubtful_.push_back(name);
    } else if (has_sub_tests_) {
      note(name, TestOutcome::passed);
    } else if (named_ == Named::by_unittest || begun_ == 0) {
      note(name, TestOutcome::failed);
    }
    alone_.reset();
    within_.reset();
    has_sub_tests_ = sub_test_failed_ = false;
  }

  /// "  test_x (module.Case.test_x) (i=1) ... FAIL"; with a docstring, the outcome is on the next line.
  bool read_sub_test(std::string_view line) {
    if (open_.empty()) return false;
    const bool begins = line.starts_with("  ") && line.substr(2).starts_with(open_) && line.size() > open_.size() + 2;
    if (begins) sub_test_ = base::trimmed(line.substr(0, line.rfind(kMark)));
    if (sub_test_.empty()) return false;
    if (const auto said = outcome_at_end(line)) {
      has_sub_tests_ = true;
      sub_test_failed_ = sub_test_failed_ || said->outcome == TestOutcome::failed;
      note(std::exchange(sub_test_, {}), said->outcome);
    }
    return true;
  }

  void note(std::string_view name, TestOutcome outcome) {
    failed_ += outcome == TestOutcome::failed ? 1 : 0;
    skipped_ += outcome == TestOutcome::skipped ? 1 : 0;
    note_outcome(outcomes_, name, outcome);
  }

  bool read_summary(std::string_view line) {
    line = base::trimmed(line, "\r");
    constexpr std::size_t kRuleLength = 70;
    const bool separates = line.size() == kRuleLength &&
                           (line.find_first_not_of('=') == line.npos || line.find_first_not_of('-') == line.npos);
    const bool was_separated = std::exchange(separated_, separates);
    if (separates) {
      if (!open_.empty() && !has_outcome()) return false;  // a test wrote it
      end();
      in_details_ = true;
      return true;
    }
    if (was_separated && line.starts_with("Ran ")) {
      end();
      in_details_ = true;
      ran_ = ran_.value_or(0) + number_in(line, "Ran ").value_or(0);
      return true;
    }
    // Python before 3.11 writes a failing set-up here alone.
    if (was_separated && in_details_ && line.starts_with("ERROR: ") && is_fixture(line.substr(7))) {
      const std::string name(line.substr(7));
      if (!outcomes_.contains(name)) note(name, TestOutcome::failed);
      return true;
    }
    if (!in_details_ || !ran_) return false;
    if (line == "OK" || line.starts_with("OK (") || line.starts_with("FAILED (")) {
      for (const char* what : {"(failures=", "errors=", "unexpected successes="})
        said_failed_ += line.starts_with("FAILED") ? number_in(line, what).value_or(0) : 0;
      in_details_ = false;
    }
    return !in_details_;
  }

  [[nodiscard]] std::string contradiction() const {
    if (!ran_) return "";
    // Python 3.12.1 counts none that a decorator skips.
    if (*ran_ < begun_ - skipped_ || *ran_ > begun_ + repeated_ + begun_otherwise_)
      return fmt::format("unittest says that it ran {} tests, and {} are read from its lines", *ran_, begun_);
    if ((failed_ > 0) != (said_failed_ > 0) || failed_ > said_failed_)
      return fmt::format("unittest says that {} tests failed, and {} are read from its lines", said_failed_, failed_);
    return "";
  }

  TestOutcomes outcomes_;
  std::string header_;    ///< a name whose docstring may follow
  std::string open_;      ///< the test whose outcome is not certain yet
  std::string last_;      ///< that began
  std::string sub_test_;  ///< of the open one, without its outcome
  Named named_ = Named::otherwise;
  std::optional<SaidOutcome> alone_;   ///< the last on a line of its own, or behind a name
  std::optional<SaidOutcome> within_;  ///< the last at the end of other text
  bool has_sub_tests_ = false;
  bool sub_test_failed_ = false;
  bool separated_ = false;   ///< the last line was a rule
  bool in_details_ = false;  ///< of failures, with texts of any form
  std::vector<std::string> doubtful_;
  std::int64_t begun_ = 0;  ///< besides the next two
  std::int64_t begun_otherwise_ = 0;
  std::int64_t repeated_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t skipped_ = 0;
  std::optional<std::int64_t> ran_;
  std::int64_t said_failed_ = 0;
};

}  // namespace

UnittestReport read_unittest_report(std::string_view text) {
  UnittestReader reader;
  each_line(text, [&reader](std::string_view line) { reader.read(line); });
  return reader.finish();
}

}  // namespace accelopt::refactor
