// SPDX-License-Identifier: Apache-2.0
#include "search/exploration.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

namespace accelopt::search {

using base::ErrorCode;
using model::Identity;

namespace {

class Explorer {
 public:
  explicit Explorer(const Exploration& exploration)
      : x_(exploration),
        flow_(x_.schedule, x_.flow, static_cast<int>(x_.beam.size()) * x_.settings.plans * x_.settings.attempts),
        shared_{.task = x_.task,
                .asker = x_.asker,
                .measurer = x_.measurer,
                .budget = x_.budget,
                .events = x_.events,
                .first_answers = first_answers_,
                .flow = flow_,
                .known_sources = x_.known_sources,
                .known_machine_code = x_.known_machine_code,
                .attempts = x_.settings.attempts,
                .fixes = x_.settings.fixes,
                .stops = x_.stops} {}

  base::Result<std::vector<AttemptOutcome>> run() {
    const int attempts = x_.settings.attempts;
    {
      std::vector<std::jthread> branches;
      for (int parent = 0; parent < static_cast<int>(x_.beam.size()); ++parent) {
        for (int plan = 0; plan < x_.settings.plans; ++plan) {
          if (x_.schedule == Schedule::serial) {
            explore_branch(parent, plan);
            continue;
          }
          flow_.admit(attempts);
          branches.emplace_back([this, parent, plan, attempts] {
            explore_branch(parent, plan);
            flow_.release(attempts);
          });
        }
      }
    }
    if (error_) return tl::make_unexpected(*error_);
    std::sort(outcomes_.begin(), outcomes_.end(), [](const AttemptOutcome& a, const AttemptOutcome& b) {
      return std::tie(a.identity.parent, a.identity.plan, a.identity.attempt) <
             std::tie(b.identity.parent, b.identity.plan, b.identity.attempt);
    });
    drop_late_fixes();
    mark_duplicates();
    return std::move(outcomes_);
  }

 private:
  /// One plan and its K attempts, each on a thread of its own unless everything is done one by one.
  void explore_branch(int parent, int plan) {
    const Identity identity{.iteration = x_.iteration, .parent = parent, .plan = plan};
    const auto answer = ask_for_plan(identity);
    if (!answer || !answer->value) {
      for (int attempt = 0; attempt < x_.settings.attempts; ++attempt) lose(identity, attempt, answer);
      return;
    }
    std::vector<std::jthread> attempts;
    attempts.reserve(static_cast<std::size_t>(x_.settings.attempts));
    for (int attempt = 0; attempt < x_.settings.attempts; ++attempt) {
      Identity own = identity;
      own.attempt = attempt;
      if (x_.schedule == Schedule::serial)
        carry_out(own, *answer->value);
      else
        attempts.emplace_back([this, own, &plan_text = *answer->value] { carry_out(own, plan_text); });
    }
  }

  void carry_out(const Identity& identity, const model::Plan& plan) {
    Flow::Seat seat(flow_);
    auto outcome =
        run_attempt(shared_, seat, context(identity), x_.beam[static_cast<std::size_t>(identity.parent)], plan);
    const std::scoped_lock lock(mutex_);
    if (outcome)
      outcomes_.push_back(std::move(*outcome));
    else if (!error_)
      error_ = outcome.error();
  }

  base::Result<agents::Answer<model::Plan>> ask_for_plan(const Identity& identity) {
    flow_.before_question(x_.stops.wind_down);
    if (x_.stops.wind_down.stop_requested()) return base::fail(ErrorCode::cancelled, "the run is ending");
    const Candidate& kernel = x_.beam[static_cast<std::size_t>(identity.parent)];
    x_.events.on(model::AttemptMoved{identity, model::AttemptState::planning, "", model::Status::not_measured,
                                     std::nullopt, ""});
    agents::PlanQuestion question{context(identity),
                                  kernel.solution,
                                  kernel.evaluation,
                                  x_.memory[static_cast<std::size_t>(identity.parent)],
                                  {}};
    if (!kernel.workloads.empty()) question.evaluation.workloads = kernel.workloads;
    question.evaluation.samples.clear();
    if (!question.evaluation.profile) {
      // Recorded once a kernel: whichever of its plans comes first has it measured.
      auto profile = x_.measurer.profile(kernel.solution, kernel.source_id, x_.stops.abort);
      if (profile)
        question.evaluation.profile = *profile;
      else if (profile.error().code != ErrorCode::cancelled && profile.error().code != ErrorCode::not_found)
        return tl::make_unexpected(profile.error());
      else if (x_.waiting != nullptr && *x_.waiting > 0)
        return tl::make_unexpected(profile.error());  // put off: the question would be another one without it
    }
    if (model::failed_in_profile(question.evaluation)) {
      return base::fail(ErrorCode::cancelled, "its parent failed " + question.evaluation.profile->failure);
    }
    if (question.evaluation.tuning) question.evaluation.tuning->heats.clear();
    if (const auto tried = x_.tried.find(kernel.source_id); tried != x_.tried.end()) question.tried = tried->second;
    return x_.asker.plan(question, x_.stops.wind_down);
  }

  void lose(const Identity& branch, int attempt, const base::Result<agents::Answer<model::Plan>>& answer) {
    const Flow::Seat seat(flow_);
    AttemptOutcome outcome;
    outcome.identity = branch;
    outcome.identity.attempt = attempt;
    outcome.parent = branch.parent;
    outcome.note = answer ? "no plan: " + answer->lost : answer.error().message;
    first_answers_.announce(outcome.identity, "");
    x_.events.on(model::AttemptMoved{outcome.identity, model::AttemptState::done, "", model::Status::not_measured,
                                     std::nullopt, outcome.note});
    const std::scoped_lock lock(mutex_);
    const bool ends_the_run =
        !answer && answer.error().code != ErrorCode::cancelled && answer.error().code != ErrorCode::not_found;
    if (ends_the_run && !error_) error_ = answer.error();
    outcomes_.push_back(std::move(outcome));
  }

  [[nodiscard]] agents::Context context(const Identity& identity) const {
    return {identity, &x_.task, x_.opened.task_header, x_.opened.device.summary, x_.seed};
  }

  /// An attempt whose failing answer turned out to be the one that an earlier attempt gave too stands as it failed, as
  /// it would had it heard in time: its fixes would else be a decision that the order of arrival made.
  void drop_late_fixes() {
    for (AttemptOutcome& outcome : outcomes_) {
      if (!outcome.first_failure) continue;
      const Candidate& first = *outcome.first_failure;
      Identity identity = first.identity;
      identity.fix = -1;
      if (!first_answers_.given_before(identity, first.source_id, 0, std::chrono::milliseconds(0))) continue;
      outcome.identity = first.identity;
      outcome.candidate = first;
      outcome.broken.reset();
      outcome.note.clear();
      outcome.duplicate = true;
    }
  }

  /// Of equal programs of one parent, whichever was measured first, the first by identity is the original.
  void mark_duplicates() {
    std::set<std::pair<int, std::string>> seen;
    for (AttemptOutcome& outcome : outcomes_) {
      if (!outcome.candidate || outcome.duplicate) continue;
      const Candidate& candidate = *outcome.candidate;
      const bool fresh_source = seen.insert({outcome.parent, candidate.source_id}).second;
      const bool fresh_code =
          candidate.machine_code_id.empty() || seen.insert({outcome.parent, candidate.machine_code_id}).second;
      if (!fresh_source || !fresh_code) outcome.duplicate = true;
    }
  }

  const Exploration& x_;
  FirstAnswers first_answers_;
  Flow flow_;
  AttemptShared shared_;
  std::mutex mutex_;
  std::vector<AttemptOutcome> outcomes_;
  std::optional<base::Error> error_;
};

}  // namespace

base::Result<std::vector<AttemptOutcome>> explore(const Exploration& exploration) {
  return Explorer(exploration).run();
}

std::string outcome_text(const AttemptOutcome& outcome) {
  if (!outcome.candidate) return outcome.note.empty() ? "no answer" : outcome.note;
  const model::Evaluation& evaluation = outcome.candidate->evaluation;
  if (evaluation.status != model::Status::passed) return std::string(model::to_string(evaluation.status));
  if (!evaluation.ratio) return "passed, not raced";
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", evaluation.ratio->estimate);
  return outcome.duplicate ? std::string(text) + " (known already)" : text;
}

}  // namespace accelopt::search
