// SPDX-License-Identifier: Apache-2.0
#include "app/review.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/refactor_change.hpp"
#include "app/reviewer_history.hpp"
#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "llm/price.hpp"
#include "review/normalize.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;

/// Changes that passed the gates, by their place among all, with what the reviewer sees of them.
struct Seen {
  std::vector<std::size_t> places;
  std::vector<std::string> shown;
};

std::vector<std::string> paths_of(const refactor::Checker& checker, const std::vector<CheckedChange>& changes) {
  std::set<std::string> paths;
  for (const refactor::Scope& scope : checker.task().scope) paths.insert(scope.path);
  for (const CheckedChange& change : changes) {
    for (const auto& [path, text] : change.result.files) paths.insert(path);
  }
  return {paths.begin(), paths.end()};
}

ReviewedChange reviewed(const CheckedChange& change) {
  const refactor::CheckResult& result = change.result;
  ReviewedChange one{.name = change.name,
                     .verdict = std::string(refactor::to_string(result.verdict)),
                     .failed_gate = result.failed_gate,
                     .why = {},
                     .ratio = result.confirmed ? result.confirmed : result.triage};
  const auto failed = std::ranges::find(result.gates, false, &refactor::Gate::passed);
  if (failed != result.gates.end() && !failed->facts.empty()) one.why = failed->facts.front();
  return one;
}

/// Both orders of every pair, `draws` times each.
std::vector<review::PairTask> pair_tasks(const review::Subject& subject, const Seen& seen, int draws) {
  std::vector<review::PairTask> tasks;
  for (std::size_t a = 0; a < seen.shown.size(); ++a) {
    for (std::size_t b = a + 1; b < seen.shown.size(); ++b) {
      for (int draw = 0; draw < draws; ++draw) {
        for (const bool swapped : {false, true}) {
          tasks.push_back({.subject = &subject,
                           .first = seen.shown[a],
                           .second = seen.shown[b],
                           .swapped = swapped,
                           .draw = draw,
                           .answer = {}});
        }
      }
    }
  }
  return tasks;
}

/// The answers, pair by pair, in the order of pair_tasks.
std::vector<ReviewedPair> pairs_of(const std::vector<review::PairTask>& tasks, const Seen& seen, int draws) {
  std::vector<ReviewedPair> pairs;
  std::size_t at = 0;
  for (std::size_t a = 0; a < seen.shown.size(); ++a) {
    for (std::size_t b = a + 1; b < seen.shown.size(); ++b) {
      ReviewedPair pair{.first = seen.places[a], .second = seen.places[b], .outcome = {}, .reasons = {}};
      std::vector<review::Vote> votes;
      for (int i = 0; i < 2 * draws; ++i, ++at) {
        const auto& answer = tasks[at].answer;
        votes.push_back({tasks[at].swapped, answer ? std::optional(answer->better) : std::nullopt});
        if (answer && answer->better != review::Better::equal && !answer->why.empty())
          pair.reasons.push_back(answer->why);
      }
      pair.outcome = review::outcome_of(votes);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

Result<void> run_objections(refactor::Checker& checker, const refactor::CheckResult& result, ReviewedChange& change) {
  if (!change.opinion) return {};
  for (const review::Objection& objection : change.opinion->objections) {
    TRY_ASSIGN(const refactor::ProbeResult probed, checker.probe(result, objection.probe));
    const ObjectionFate fate = probed.outcome == refactor::ProbeOutcome::differs ? ObjectionFate::confirmed
                               : probed.outcome == refactor::ProbeOutcome::same  ? ObjectionFate::refuted
                                                                                 : ObjectionFate::unusable;
    change.objections.push_back({objection, fate, probed.text});
  }
  return {};
}

/// Races of those that nothing stopped. One whose results differ from another's in a race is stopped by nothing here:
/// each gave what the base gives on its own inputs.
Result<std::vector<review::CertainlyBetter>> races(refactor::Checker& checker,
                                                   const std::vector<CheckedChange>& changes,
                                                   const std::vector<std::size_t>& alive) {
  std::vector<review::CertainlyBetter> certain;
  for (std::size_t a = 0; a < alive.size(); ++a) {
    for (std::size_t b = a + 1; b < alive.size(); ++b) {
      TRY_ASSIGN(const refactor::RaceResult race, checker.race(changes[alive[a]].result, changes[alive[b]].result));
      if (!race.difference.empty()) continue;
      if (race.decision.log_ratio.low > 0) certain.push_back({alive[b], alive[a]});
      if (race.decision.log_ratio.high < 0) certain.push_back({alive[a], alive[b]});
    }
  }
  return certain;
}

void decide(ReviewReport& report) {
  // Identity is the change's own, not the place at which it was given.
  std::vector<review::Contestant> contestants;
  for (const ReviewedChange& change : report.changes) {
    contestants.push_back({.id = change.identity,
                           .disqualified = !change.failed_gate.empty() || change.stopped(),
                           .rubric = change.opinion ? change.opinion->rubric.sum() : 0,
                           .diff_lines = change.diff_lines});
  }
  std::vector<review::PairResult> pairs;
  for (const ReviewedPair& pair : report.pairs) pairs.push_back({pair.first, pair.second, pair.outcome});
  const review::Decision decision = review::decide(contestants, report.certain, pairs, report.standing.weight);
  report.chosen = decision.choice.chosen;
  report.reason = decision.choice.reason;
  report.advised = decision.advice.chosen;
}

/// The chosen one at full depth, and its commit.
Result<void> commit_chosen(const Shell& shell, const ReviewOptions& options, refactor::Checker& checker,
                           const std::string& tree, std::uint64_t seed, ReviewReport& report) {
  RefactorReport chosen = report_on(checker, seed);
  chosen.tried = static_cast<int>(report.changes.size());
  TRY_ASSIGN(chosen.result, checker.check(tree, refactor::Depth::confirm));
  chosen.reviewed =
      fmt::format("first of {}{}", report.changes.size(), report.pairs.empty() ? "" : ", " + report.agreement());
  TRY(keep_change(shell, options.refactor, checker, chosen, Commit::yes));
  record_found(shell, options.refactor, chosen);
  report.run = chosen.id;
  report.branch = chosen.branch;
  report.commit = chosen.commit;
  if (chosen.commit.empty())
    report.not_committed = chosen.result.failed_gate.empty() ? "it is not certainly faster than the base"
                                                             : "its confirmation failed: " + chosen.result.failed_gate;
  return {};
}

std::string name_of(const RefactorChange& change) {
  return change.commit.empty() ? change.file.string() : change.commit;
}

}  // namespace

std::string_view to_string(ObjectionFate fate) {
  constexpr auto kNames = std::to_array<base::Named<ObjectionFate>>({{ObjectionFate::confirmed, "confirmed"},
                                                                     {ObjectionFate::refuted, "refuted"},
                                                                     {ObjectionFate::unusable, "unusable"}});
  return base::name_in(kNames, fate);
}

bool ReviewedChange::stopped() const {
  return std::ranges::any_of(objections, [](const auto& one) { return one.fate == ObjectionFate::confirmed; });
}

std::string ReviewReport::agreement() const {
  if (pairs.empty()) return "";
  const auto stable = std::ranges::count_if(pairs, [](const ReviewedPair& pair) { return pair.outcome.stable; });
  return fmt::format("{} of {} pairs stable", stable, pairs.size());
}

base::Outcome<ReviewReport> review_checked(refactor::Checker& checker, const std::vector<CheckedChange>& changes,
                                           const Reviewing& reviewing) {
  ReviewReport report;
  report.task = checker.task().name;
  report.created = base::utc_now();
  report.model = reviewing.chat->name();
  report.standing = reviewing.standing;
  Seen seen;
  for (const CheckedChange& change : changes) {
    report.changes.push_back(reviewed(change));
    if (!change.result.failed_gate.empty()) continue;
    TRY_ASSIGN(std::string shown, shown_change(checker, change.result));
    report.changes.back().diff_lines = review::changed_lines(shown);
    report.changes.back().identity = base::sha256_hex(shown);
    seen.places.push_back(report.changes.size() - 1);
    seen.shown.push_back(std::move(shown));
  }
  if (seen.places.size() > kMostReviewed) {
    return tl::make_unexpected(base::NotDone(base::Error{
        ErrorCode::invalid_argument,
        fmt::format("{} changes passed the gates; a review takes {} at most", seen.places.size(), kMostReviewed)}));
  }
  TRY_ASSIGN(const review::Subject subject, subject_of(checker, paths_of(checker, changes)));
  std::vector<review::OpinionTask> opinions;
  for (const std::string& shown : seen.shown) opinions.push_back({.subject = &subject, .change = shown, .opinion = {}});
  std::vector<review::PairTask> pairs = pair_tasks(subject, seen, reviewing.draws);
  const std::size_t questions = opinions.size() + pairs.size();
  reviewing.step(fmt::format("asking the reviewer {} questions", questions));
  // Letters follow from what is shown: a review that is repeated asks the same.
  const review::Asking asking{.chat = reviewing.chat,
                              .seed = base::derive_seed(0, subject.base + base::joined(seen.shown, "\n")),
                              .stop = reviewing.stop,
                              .at_once = reviewing.at_once,
                              .progress = [&](std::size_t done, std::size_t of) {
                                reviewing.step(fmt::format("asking the reviewer, {} of {}", done, of));
                              }};
  TRY_ASSIGN(report.usage, review::ask_all(asking, opinions, pairs));
  for (std::size_t i = 0; i < seen.places.size(); ++i) {
    ReviewedChange& change = report.changes[seen.places[i]];
    change.opinion = std::move(opinions[i].opinion);
    reviewing.step("running objections");
    TRY(run_objections(checker, changes[seen.places[i]].result, change));
  }
  report.pairs = pairs_of(pairs, seen, reviewing.draws);
  std::vector<std::size_t> alive = seen.places;
  std::erase_if(alive, [&](std::size_t one) { return report.changes[one].stopped(); });
  if (alive.size() > 1) reviewing.step("racing the changes that are left");
  TRY_ASSIGN(report.certain, races(checker, changes, alive));
  decide(report);
  return report;
}

int questions_at_once(const LoneModel& model) {
  constexpr int kAtOnce = 8;
  constexpr int kInMailbox = 256;
  return model.config.api == "mailbox" ? kInMailbox : std::min(kAtOnce, model.config.max_concurrency);
}

Result<LoneModel> connect_reviewer(const Shell& shell, AgentFlags flags, const Config& config,
                                   const std::string& purpose) {
  const bool named = !(flags.model + flags.base_url + flags.api + flags.mailbox + flags.replay).empty();
  if (!named && config.models.contains("reviewer")) flags.model = "reviewer";
  return connect_lone_model(shell, flags, config, model::AgentRole::executor, "reviewer", purpose);
}

base::Outcome<ReviewReport> review_changes(const Shell& shell, const ReviewOptions& options, const AgentFlags& flags,
                                           const Config& config) {
  TRY_ASSIGN(const LoneModel model, connect_reviewer(shell, flags, config, "a review"));
  TRY_ASSIGN(const review::Standing standing, standing_on_record(options.refactor.workspace, model.chat->name()));
  const std::uint64_t seed = options.refactor.seed.value_or(base::random_seed() >> 16U);
  TRY_ASSIGN(const auto checker, prepare_checker(shell, options.refactor, seed));
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
  if (!report.usage.usd && model.config.price) report.usage.usd = llm::cost_usd(report.usage, *model.config.price);
  if (options.commit == Commit::yes && report.chosen)
    TRY(commit_chosen(shell, options, *checker, trees[*report.chosen], seed, report));
  if (const auto entered = record_review(options.refactor.workspace, report); !entered)
    shell.warn("the review was not recorded: " + entered.error().message);
  return report;
}

}  // namespace accelopt::app
