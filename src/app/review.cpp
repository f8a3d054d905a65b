// SPDX-License-Identifier: Apache-2.0
#include "app/review.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
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

Result<void> run_objections(ReviewBench& bench, std::size_t place, ReviewedChange& change) {
  if (!change.opinion) return {};
  for (const review::Objection& objection : change.opinion->objections) {
    TRY_ASSIGN(const refactor::ProbeResult probed, bench.probe(place, objection.probe));
    const ObjectionFate fate = probed.outcome == refactor::ProbeOutcome::differs ? ObjectionFate::confirmed
                               : probed.outcome == refactor::ProbeOutcome::same  ? ObjectionFate::refuted
                                                                                 : ObjectionFate::unusable;
    change.objections.push_back({objection, fate, probed.text});
  }
  return {};
}

/// An input that showed one change to be wrong is run on the others as well: a fault that two share is no less a fault
/// for having been objected to once.
Result<void> run_on_others(ReviewBench& bench, const std::vector<std::size_t>& places, ReviewReport& report) {
  std::vector<std::pair<std::size_t, review::Objection>> proofs;
  for (const std::size_t place : places) {
    for (const JudgedObjection& one : report.changes[place].objections) {
      if (one.fate == ObjectionFate::confirmed) proofs.emplace_back(place, one.objection);
    }
  }
  for (const auto& [raised, objection] : proofs) {
    for (const std::size_t place : places) {
      ReviewedChange& change = report.changes[place];
      if (place == raised || change.stopped()) continue;
      TRY_ASSIGN(const refactor::ProbeResult probed, bench.probe(place, objection.probe));
      if (probed.outcome == refactor::ProbeOutcome::differs)
        change.objections.push_back({objection, ObjectionFate::confirmed, probed.text});
    }
  }
  return {};
}

/// `without`: places that are left out.
review::Decision decision_of(const ReviewReport& report, std::span<const std::size_t> without) {
  // Identity is the change's own, not the place at which it was given.
  std::vector<review::Contestant> contestants;
  for (std::size_t place = 0; place < report.changes.size(); ++place) {
    const ReviewedChange& change = report.changes[place];
    const bool left_out = std::ranges::find(without, place) != without.end();
    contestants.push_back({.id = change.identity,
                           .disqualified = left_out || !change.failed_gate.empty() || change.stopped(),
                           .rubric = change.opinion ? change.opinion->rubric.sum() : 0,
                           .diff_lines = change.diff_lines});
  }
  std::vector<review::PairResult> pairs;
  for (const ReviewedPair& pair : report.pairs) pairs.push_back({pair.first, pair.second, pair.outcome});
  return review::decide(contestants, report.certain, pairs, report.standing.weight);
}

void decide(ReviewReport& report) {
  const review::Decision decision = decision_of(report, {});
  report.chosen = decision.choice.chosen;
  report.reason = decision.choice.reason;
  report.advised = decision.advice.chosen;
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

std::vector<std::size_t> order_of(const ReviewReport& report) {
  std::vector<std::size_t> order;
  while (const auto next = decision_of(report, order).choice.chosen) order.push_back(*next);
  return order;
}

base::Outcome<ReviewReport> review_shown(Reviewable reviewable, ReviewBench& bench, const Reviewing& reviewing) {
  ReviewReport report;
  report.task = std::move(reviewable.task);
  report.created = base::utc_now();
  report.model = reviewing.chat->name();
  report.standing = reviewing.standing;
  report.changes = std::move(reviewable.changes);
  Seen seen;
  for (std::size_t place = 0; place < report.changes.size(); ++place) {
    if (!report.changes[place].failed_gate.empty()) continue;
    std::string& shown = reviewable.shown[place];
    report.changes[place].diff_lines = review::changed_lines(shown);
    report.changes[place].identity = base::sha256_hex(shown);
    seen.places.push_back(place);
    seen.shown.push_back(std::move(shown));
  }
  if (seen.places.size() > kMostReviewed) {
    return tl::make_unexpected(base::NotDone(base::Error{
        ErrorCode::invalid_argument,
        fmt::format("{} changes passed the gates; a review takes {} at most", seen.places.size(), kMostReviewed)}));
  }
  const review::Subject& subject = reviewable.subject;
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
                              .put_off = reviewing.put_off,
                              .progress = [&](std::size_t done, std::size_t of) {
                                reviewing.step(fmt::format("asking the reviewer, {} of {}", done, of));
                              }};
  TRY_ASSIGN(report.usage, review::ask_all(asking, opinions, pairs));
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < seen.places.size(); ++i) {
    ReviewedChange& change = report.changes[seen.places[i]];
    change.opinion = std::move(opinions[i].opinion);
    reviewing.step("running objections");
    TRY(run_objections(bench, seen.places[i], change));
  }
  TRY(run_on_others(bench, seen.places, report));
  report.pairs = pairs_of(pairs, seen, reviewing.draws);
  std::vector<std::size_t> alive = seen.places;
  std::erase_if(alive, [&](std::size_t one) { return report.changes[one].stopped(); });
  if (alive.size() > 1) reviewing.step("racing the changes that are left");
  TRY_ASSIGN(report.certain, bench.races(alive));
  report.device_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
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

}  // namespace accelopt::app
