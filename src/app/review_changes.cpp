// SPDX-License-Identifier: Apache-2.0
// Reviews of changes of a repository.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/readable_preference.hpp"
#include "app/refactor_change.hpp"
#include "app/review.hpp"
#include "app/reviewer_history.hpp"
#include "base/hash.hpp"
#include "llm/price.hpp"
#include "model/measure.hpp"

namespace accelopt::app {
namespace {

using base::Result;

std::vector<std::string> paths_of(const refactor::Checker& checker, const std::vector<CheckedChange>& changes) {
  std::set<std::string> paths;
  for (const refactor::Scope& scope : checker.task().scope) paths.insert(scope.path);
  for (const CheckedChange& change : changes) {
    for (const auto& [path, text] : change.result.files) paths.insert(path);
  }
  return {paths.begin(), paths.end()};
}

ReviewedChange as_reviewed(const CheckedChange& change) {
  const refactor::CheckResult& result = change.result;
  ReviewedChange one{.name = change.name,
                     .verdict = std::string(refactor::to_string(result.verdict, result.goal)),
                     .failed_gate = result.failed_gate,
                     .why = {},
                     .ratio = result.confirmed ? result.confirmed : result.triage};
  const auto failed = std::ranges::find(result.gates, false, &refactor::Gate::passed);
  if (failed != result.gates.end() && !failed->facts.empty()) one.why = failed->facts.front();
  return one;
}

/// Changes of a repository, run and raced by its checker.
class CheckerBench final : public ReviewBench {
 public:
  CheckerBench(refactor::Checker& checker, const std::vector<CheckedChange>& changes)
      : checker_(checker), changes_(changes) {}

  Result<refactor::ProbeResult> probe(std::size_t change, const refactor::Probe& probe) override {
    return checker_.probe(changes_[change].result, probe);
  }

  /// Races of those that nothing stopped. One whose results differ from another's in a race is stopped by nothing here:
  /// each gave what the base gives on its own inputs.
  Result<std::vector<review::CertainlyBetter>> races(const std::vector<std::size_t>& alive) override {
    std::vector<review::CertainlyBetter> certain;
    for (std::size_t a = 0; a < alive.size(); ++a) {
      for (std::size_t b = a + 1; b < alive.size(); ++b) {
        TRY_ASSIGN(const refactor::RaceResult race,
                   checker_.race(changes_[alive[a]].result, changes_[alive[b]].result));
        if (!race.difference.empty()) continue;
        if (race.decision.log_ratio.low > 0) certain.push_back({alive[b], alive[a]});
        if (race.decision.log_ratio.high < 0) certain.push_back({alive[a], alive[b]});
      }
    }
    return certain;
  }

 private:
  refactor::Checker& checker_;
  const std::vector<CheckedChange>& changes_;
};

/// The chosen one at full depth, and its commit.
base::Outcome<void> commit_chosen(const Shell& shell, const ReviewOptions& options, refactor::Checker& checker,
                                  const review::Asking& asking, const std::string& tree, std::uint64_t seed,
                                  ReviewReport& report) {
  RefactorReport chosen = report_on(checker, seed);
  chosen.tried = static_cast<int>(report.changes.size());
  TRY_ASSIGN(chosen.result, checker.check(tree, refactor::Depth::confirm));
  const auto base = [&](const std::string& path) { return checker.base_text(path); };
  const auto asked = ask_preference(asking, report.standing.weight, checker.task().language, base, chosen.result);
  if (asked)
    report.usage += *asked;
  else if (asked.error().why == base::Why::put_off)
    return tl::make_unexpected(asked.error());
  else
    shell.warn("which of the two is easier to read was not asked: " + asked.error().message);
  chosen.reviewed =
      fmt::format("first of {}{}", report.changes.size(), report.pairs.empty() ? "" : ", " + report.agreement());
  keep_change(shell, options.refactor, checker, chosen, Commit::yes);
  record_found(shell, options.refactor, chosen);
  report.run = chosen.id;
  report.branch = chosen.branch;
  report.commit = chosen.commit;
  report.not_committed = chosen.not_committed;
  if (chosen.commit.empty() && report.not_committed.empty())
    report.not_committed = chosen.result.failed_gate.empty()
                               ? fmt::format("it is not certainly {} than the base",
                                             model::measure_of(refactor::to_string(chosen.result.goal)).better)
                               : "its confirmation failed: " + chosen.result.failed_gate;
  return {};
}

std::string name_of(const RefactorChange& change) {
  return change.commit.empty() ? change.file.string() : change.commit;
}

}  // namespace

base::Outcome<ReviewReport> review_checked(refactor::Checker& checker, const std::vector<CheckedChange>& changes,
                                           const Reviewing& reviewing) {
  Reviewable reviewable{.task = checker.task().name, .subject = {}, .changes = {}, .shown = {}};
  for (const CheckedChange& change : changes) {
    reviewable.changes.push_back(as_reviewed(change));
    std::string& shown = reviewable.shown.emplace_back();
    if (!change.result.failed_gate.empty()) continue;
    TRY_ASSIGN(shown, shown_change(checker, change.result));
  }
  TRY_ASSIGN(reviewable.subject, subject_of(checker, paths_of(checker, changes)));
  CheckerBench bench(checker, changes);
  return review_shown(std::move(reviewable), bench, reviewing);
}

base::Outcome<ReviewReport> review_changes(const Shell& shell, const ReviewOptions& options, const AgentFlags& flags,
                                           const Config& config) {
  TRY_ASSIGN(const LoneModel model, connect_reviewer(shell, flags, config, "a review"));
  TRY_ASSIGN(const review::Standing standing, standing_on_record(options.refactor.workspace, model.chat->name()));
  const std::uint64_t seed = options.refactor.seed.value_or(base::random_seed() >> 16U);
  for (const RefactorChange& change : options.changes) TRY(expect_applies(options.refactor, change));
  TRY_ASSIGN(const auto checker, prepare_checker(shell, options.refactor, seed));
  if (options.commit == Commit::yes) TRY(expect_room_for_commit(*checker, report_on(*checker, seed)));
  std::vector<CheckedChange> checked;
  std::vector<std::string> trees;
  for (const RefactorChange& change : options.changes) {
    TRY_ASSIGN(trees.emplace_back(), tree_of_change(*checker, change));
    options.refactor.step("examining " + name_of(change));
    TRY_ASSIGN(auto result, checker->check(trees.back(), refactor::Depth::triage));
    checked.push_back({name_of(change), std::move(result)});
  }
  TRY_ASSIGN(ReviewReport report, review_checked(*checker, checked,
                                                 {.chat = model.chat.get(),
                                                  .standing = standing,
                                                  .draws = options.draws,
                                                  .at_once = questions_at_once(model),
                                                  .stop = shell.stops.wind_down,
                                                  .step = options.refactor.step}));
  if (options.commit == Commit::yes && report.chosen)
    TRY(commit_chosen(shell, options, *checker,
                      {.chat = model.chat.get(),
                       .seed = base::derive_seed(0, trees[*report.chosen]),
                       .stop = shell.stops.wind_down,
                       .at_once = questions_at_once(model)},
                      trees[*report.chosen], seed, report));
  if (!report.usage.usd && model.config.price) report.usage.usd = llm::cost_usd(report.usage, *model.config.price);
  if (const auto entered = record_review(options.refactor.workspace, report); !entered)
    shell.warn("the review was not recorded: " + entered.error().message);
  return report;
}

}  // namespace accelopt::app
