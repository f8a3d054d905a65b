// SPDX-License-Identifier: Apache-2.0
#include "search/play_off.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "search/selection.hpp"

namespace accelopt::search {

using base::Outcome;
using base::Why;
using model::Status;

namespace {

/// The branches' representatives that are worth a place in the race, each machine code once.
std::vector<Candidate> new_entrants(const std::vector<AttemptOutcome>& outcomes) {
  std::vector<Candidate> children;
  for (const std::size_t i : evaluation::new_entrants(as_raced(outcomes))) children.push_back(*outcomes[i].candidate);
  return children;
}

/// In a replay with other settings, what the play-off would have said, from the races that are on record.
evaluation::PlayoffReport playoff_from_triage(const std::vector<Candidate>& field) {
  std::map<std::string, double> score_of;
  evaluation::PlayoffReport report;
  for (const Candidate& candidate : field) {
    const auto parent = score_of.find(candidate.parent_source_id);
    const bool known = candidate.score.estimate != 1 || parent == score_of.end() || !candidate.evaluation.ratio;
    const double score = known ? candidate.score.estimate : parent->second * candidate.evaluation.ratio->estimate;
    score_of[candidate.kernel.id()] = score;
    report.arms.push_back({.measured = true,
                           .dropped = false,
                           .reason = "",
                           .score = {score, score, score},
                           .workloads = candidate.evaluation.workloads,
                           .blocks = 0});
  }
  return report;
}

/// One play-off: its field in the order baseline, parents, old finalists, children, each source once.
class PlayOff {
 public:
  PlayOff(const Selecting& selecting, const std::vector<Candidate>& children) : selecting_(selecting) {
    enter(selecting.baseline);
    for (const Candidate& parent : selecting.beam) enter(parent);
    for (const Candidate& finalist : selecting.finalists) enter(finalist);
    first_child_ = field_.size();
    for (const Candidate& child : children) enter(child);
  }

  Outcome<Selection> run() {
    TRY(race());
    // Nothing is known without the baseline's times: what was best before stays.
    if (out_.contains(0)) return Selection{selecting_.beam, selecting_.finalists, notes_};
    TRY_ASSIGN(const auto chosen, fill_places());
    return selection(chosen);
  }

 private:
  void enter(const Candidate& candidate) {
    if (arm_of_.try_emplace(candidate.kernel.id(), field_.size()).second) field_.push_back(candidate);
  }

  [[nodiscard]] int places() const { return beam_width(selecting_.settings); }

  Outcome<void> race() {
    std::vector<evaluation::Arm> arms;
    for (const Candidate& candidate : field_) arms.push_back({candidate.kernel});
    auto raced = selecting_.measurer.playoff(selecting_.iteration, arms, places(), selecting_.abort);
    if (!raced && raced.error().why == Why::not_on_record) raced = playoff_from_triage(field_);
    if (!raced) return tl::make_unexpected(raced.error());
    const evaluation::PlayoffReport& report = *raced;
    if (report.arms.size() != field_.size()) {
      return base::fail(base::ErrorCode::corrupt,
                        fmt::format("the play-off of iteration {} scores {} arms, and {} kernels were raced",
                                    selecting_.iteration + 1, report.arms.size(), field_.size()));
    }
    notes_ = report.notes;
    for (std::size_t i = 0; i < field_.size(); ++i) {
      if (!report.arms[i].measured) out_.insert(i);
      if (i == 0) continue;
      field_[i].score = report.arms[i].score;
      if (!report.arms[i].workloads.empty()) field_[i].workloads = report.arms[i].workloads;
    }
    return {};
  }

  /// The arms of the new beam. A child that fails the held-out workloads is out, and the places are filled again
  /// without it.
  Outcome<std::vector<std::size_t>> fill_places() {
    for (;;) {
      const std::vector<std::size_t> chosen = fill_beam(entrants(), places());
      TRY_ASSIGN(const auto failed, first_that_fails_held_out(chosen));
      if (!failed) return chosen;
      out_.insert(*failed);
    }
  }

  [[nodiscard]] std::vector<Entrant> entrants() const {
    std::map<std::size_t, int> parent_place;  // arm of a parent -> its place in the old beam
    for (std::size_t p = 0; p < selecting_.beam.size(); ++p)
      parent_place.try_emplace(arm_of_.at(selecting_.beam[p].kernel.id()), static_cast<int>(p));
    std::vector<Entrant> entrants;
    for (std::size_t i = 0; i < field_.size(); ++i) {
      if (out_.contains(i)) continue;
      const bool child = i >= first_child_;
      if (!child && !parent_place.contains(i)) continue;  // an old finalist only defends its title
      Entrant entrant{i, field_[i].identity, field_[i].score.estimate, -1, 0};
      if (child) {
        const std::size_t parent_arm = arm_of_.at(field_[i].parent_source_id);
        entrant.parent = parent_place.at(parent_arm);
        entrant.parent_score = field_[parent_arm].score.estimate;
      }
      entrants.push_back(entrant);
    }
    return entrants;
  }

  /// Put off, where one is: all that can be asked for before a failure is asked for.
  Outcome<std::optional<std::size_t>> first_that_fails_held_out(const std::vector<std::size_t>& chosen) {
    std::optional<base::NotDone> put_off;
    for (const std::size_t arm : chosen) {
      if (arm < first_child_) continue;
      const Candidate& child = field_[arm];
      const auto status = selecting_.measurer.verify_held_out(child.kernel, selecting_.abort);
      if (!status && status.error().why == Why::put_off) {
        put_off = status.error();  // the others can be asked for as well
        continue;
      }
      const bool unknown = !status && status.error().why == Why::not_on_record;
      if (!status && !unknown) return tl::make_unexpected(status.error());
      if (unknown || *status == Status::passed) continue;
      ++selecting_.counts["HELD_OUT_FAILED"];
      if (put_off) break;
      return std::optional(arm);
    }
    if (put_off) return tl::make_unexpected(*put_off);
    return std::nullopt;
  }

  [[nodiscard]] Selection selection(const std::vector<std::size_t>& chosen) const {
    Selection next{selecting_.beam, finalists(chosen), notes_};
    if (selecting_.settings.strategy != Strategy::repeated_sampling && !chosen.empty()) {
      next.beam.clear();
      for (const std::size_t arm : chosen) next.beam.push_back(field_[arm]);
    }
    return next;
  }

  [[nodiscard]] std::vector<Candidate> finalists(const std::vector<std::size_t>& chosen) const {
    std::vector<Candidate> ranked;
    for (std::size_t i = 1; i < field_.size(); ++i) {
      const bool in_beam = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
      if (!out_.contains(i) && (i < first_child_ || in_beam) && field_[i].score.estimate > 1)
        ranked.push_back(field_[i]);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(b.score.estimate, a.identity) < std::tie(a.score.estimate, b.identity);
    });
    const auto most = static_cast<std::size_t>(selecting_.settings.confirm_tries);
    if (ranked.size() > most) ranked.resize(most);
    return ranked;
  }

  const Selecting& selecting_;
  std::vector<Candidate> field_;
  std::map<std::string, std::size_t> arm_of_;  ///< by source id
  std::size_t first_child_ = 0;
  std::set<std::size_t> out_;  ///< arms that were not measured, or failed
  std::vector<std::string> notes_;
};

}  // namespace

Outcome<Selection> play_off(const Selecting& selecting, const std::vector<AttemptOutcome>& outcomes) {
  const std::vector<Candidate> children = new_entrants(outcomes);
  if (children.empty()) return Selection{selecting.beam, selecting.finalists};  // nothing new to race
  return PlayOff(selecting, children).run();
}

void expect_play_off(const Selecting& selecting, const std::vector<AttemptOutcome>& outcomes,
                     std::vector<std::string> known_code, evaluation::Leader leader) {
  const bool asks = std::any_of(outcomes.begin(), outcomes.end(),
                                [](const auto& outcome) { return outcome.put_off && !outcome.unmeasured; });
  if (asks || selecting.settings.rules != Rules::standard) return;
  evaluation::ExpectedPlayoff expected{.beam = {},
                                       .finalists = {},
                                       .baseline = selecting.baseline.kernel,
                                       .attempts = {},
                                       .known_code = std::move(known_code),
                                       .places = beam_width(selecting.settings),
                                       .leader = leader};
  for (const Candidate& parent : selecting.beam) expected.beam.push_back(parent.kernel);
  for (const Candidate& finalist : selecting.finalists) expected.finalists.push_back(finalist.kernel);
  for (const AttemptOutcome& outcome : outcomes) {
    if (!outcome.unmeasured && !outcome.candidate) continue;
    const bool known = !outcome.unmeasured;
    expected.attempts.push_back({.parent = outcome.parent,
                                 .plan = outcome.identity.plan,
                                 .kernel = known ? outcome.candidate->kernel : *outcome.unmeasured,
                                 .evaluation = known ? std::optional(outcome.candidate->evaluation) : std::nullopt,
                                 .duplicate = outcome.duplicate,
                                 .fixable = !known && outcome.fixable});
  }
  selecting.measurer.expect_playoff(expected);
}

Selection select_as_published(const Selecting& selecting, const std::vector<AttemptOutcome>& outcomes) {
  const double baseline_ns = latency_ns(selecting.baseline.evaluation);
  Selection next{{}, selecting.finalists};
  for (const PaperEntrant& entrant : fill_beam_as_published(outcomes, selecting.settings.beam)) {
    if (entrant.is_parent_code) {
      next.beam.push_back(selecting.beam[static_cast<std::size_t>(entrant.parent)]);
      continue;
    }
    Candidate child = *outcomes[entrant.outcome].candidate;
    const double ratio = baseline_ns / entrant.latency_ns;
    child.score = {ratio, ratio, ratio};
    child.workloads = child.evaluation.workloads;
    next.beam.push_back(child);
    next.finalists.push_back(child);
  }
  if (selecting.settings.strategy == Strategy::repeated_sampling || next.beam.empty()) next.beam = selecting.beam;
  std::erase_if(next.finalists, [](const Candidate& c) { return c.score.estimate <= 1; });
  std::stable_sort(next.finalists.begin(), next.finalists.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score.estimate > b.score.estimate; });
  const auto most = static_cast<std::size_t>(selecting.settings.confirm_tries);
  if (next.finalists.size() > most) next.finalists.resize(most);
  return next;
}

}  // namespace accelopt::search
