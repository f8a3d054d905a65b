// SPDX-License-Identifier: Apache-2.0
#include "app/critical_run.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "app/review.hpp"
#include "app/reviewer_history.hpp"
#include "base/json_fields.hpp"
#include "review/tester.hpp"

namespace accelopt::app {
namespace {

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// As the reviewer's report has it: the finalist with what its last play-off said.
CheckedChange as_checked(const search::Candidate& finalist, const refactor::CheckResult& built) {
  CheckedChange change{model::to_string(finalist.identity), built};
  change.result.verdict = refactor::Verdict::better;
  change.result.triage = stats::Interval{finalist.score.estimate, finalist.score.low, finalist.score.high};
  return change;
}

class Reviewer final : public search::FinalistReviewer {
 public:
  explicit Reviewer(CriticalPorts ports) : ports_(std::move(ports)) {}

  base::Outcome<search::FinalistReview> review(const std::vector<search::Candidate>& finalists,
                                               std::stop_token stop) override {
    put_off_ = 0;
    TRY_ASSIGN(const review::Standing standing, standing_on_record(ports_.workspace, ports_.chat->name()));
    if (standing.weight == review::Weight::advises)
      ports_.notice(fmt::format("the reviewer {} only advises: {}; see accelopt review --calibrate",
                                ports_.chat->name(), standing.why));
    std::vector<model::Kernel> kernels;
    for (const search::Candidate& finalist : finalists) kernels.push_back(finalist.kernel);
    ReviewReport report;
    const auto use = [&](refactor::Checker& checker,
                         const targets::repo::RepoEvaluator::Changes& changes) -> base::Outcome<void> {
      std::vector<CheckedChange> all;
      for (std::size_t i = 0; i < changes.size(); ++i) all.push_back(as_checked(finalists[i], changes[i]));
      TRY_ASSIGN(report, review_checked(checker, all,
                                        {.chat = ports_.chat,
                                         .standing = standing,
                                         .at_once = ports_.at_once,
                                         .stop = stop,
                                         .put_off = [&](std::size_t count) { put_off_ = static_cast<int>(count); }}));
      return {};
    };
    TRY(ports_.evaluator.with_checker(ports_.open, kernels, use));
    return told(report, finalists);
  }

  [[nodiscard]] int put_off() const override { return put_off_; }

 private:
  static search::FinalistReview told(const ReviewReport& report, const std::vector<search::Candidate>& finalists) {
    search::FinalistReview review;
    for (const std::size_t place : order_of(report)) review.order.push_back(finalists[place].kernel.id());
    for (std::size_t place = 0; place < report.changes.size(); ++place) {
      const auto& objections = report.changes[place].objections;
      const auto proof = std::ranges::find(objections, ObjectionFate::confirmed, &JudgedObjection::fate);
      if (proof != objections.end())
        review.stopped.push_back({finalists[place].kernel.id(), proof->objection.why + ": " + proof->text});
    }
    review.summary = fmt::format("first of {}", finalists.size());
    if (!report.pairs.empty()) review.summary += ", " + report.agreement();
    review.decided_by = review::to_string(report.reason);
    review.report = report;
    review.usage = report.usage;
    review.device_seconds = report.device_seconds;
    return review;
  }

  CriticalPorts ports_;
  int put_off_ = 0;
};

/// The files that hold what may be changed.
std::vector<std::string> files_in_scope(const refactor::Task& task) {
  std::set<std::string> paths;
  for (const refactor::Scope& scope : task.scope) paths.insert(scope.path);
  return {paths.begin(), paths.end()};
}

}  // namespace

std::unique_ptr<search::FinalistReviewer> make_finalist_reviewer(CriticalPorts ports) {
  return std::make_unique<Reviewer>(std::move(ports));
}

ACCELOPT_JSON(WrittenTests) {
  field.required("selection", it.selection, "usage", it.usage, "device_seconds", it.device_seconds);
  field.optional("refused", it.refused);
}

base::Outcome<WrittenTests> tests_of_run(const CriticalPorts& ports, search::Recorder& recorder, search::Budget& budget,
                                         int count, const std::stop_token& stop) {
  const auto write = [&]() -> base::Outcome<WrittenTests> {
    WrittenTests written;
    const auto began = std::chrono::steady_clock::now();
    double asking = 0;
    const auto use = [&](refactor::Checker& checker,
                         const targets::repo::RepoEvaluator::Changes&) -> base::Outcome<void> {
      TRY_ASSIGN(const review::Subject subject, subject_of(checker, files_in_scope(checker.task())));
      const auto asked = std::chrono::steady_clock::now();
      TRY_ASSIGN(const review::TestAnswer answer, review::ask_for_tests(*ports.chat, subject, count, stop));
      asking = seconds_since(asked);
      written.usage = answer.usage;
      ports.notice(fmt::format("the tester wrote {}; which of them tell faulty copies of the code from it is tried now",
                               answer.tests.size() == 1 ? "1 test" : fmt::format("{} tests", answer.tests.size())));
      TRY_ASSIGN(written.selection, refactor::select_tests(checker, answer.tests));
      return {};
    };
    const auto used = ports.evaluator.with_checker(ports.open, {}, use);
    written.device_seconds = seconds_since(began) - asking;
    if (used) budget.spend({.device_seconds = written.device_seconds});
    if (used || used.error().why != base::Why::ending || stop.stop_requested()) {
      TRY(used);
      return written;
    }
    written.refused = used.error().message;  // the budget: the search has its own say of that
    return written;
  };
  TRY_ASSIGN(WrittenTests written,
             recorder.once<WrittenTests>({{}, std::string(model::kTestsStep)}, {{"most", count}}, write));
  budget.charge(model::kTesterRole, written.usage);
  ports.evaluator.hold_to(written.selection.usable());
  return written;
}

std::string describe(const WrittenTests& tests) {
  if (!tests.refused.empty()) return "no tests were written: " + tests.refused;
  const refactor::TestSelection& selection = tests.selection;
  std::string text = fmt::format(
      "{} of {} tests of the tester hold every change; {} of them kill {} of the {} mutants that no other test kills "
      "({} of {} are killed without them)",
      selection.usable().size(), selection.trials.size(), selection.kept(), selection.killed,
      selection.mutants - selection.killed_before, selection.killed_before, selection.mutants);
  if (selection.untried > 0) text += fmt::format("; for {} more mutants no time was left", selection.untried);
  return text;
}

}  // namespace accelopt::app
