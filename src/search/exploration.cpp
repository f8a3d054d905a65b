// SPDX-License-Identifier: Apache-2.0
#include "search/exploration.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "search/recorder.hpp"
#include "search/selection.hpp"

namespace accelopt::search {

using base::Why;
using model::Identity;

namespace {

int most_attempts_of(const Exploration& x) {
  int plans = 0;
  for (std::size_t parent = 0; parent < x.beam.size(); ++parent) plans += plans_for(x.settings, parent, x.beam.size());
  return plans * x.settings.attempts;
}

class Explorer {
 public:
  explicit Explorer(const Exploration& exploration)
      : x_(exploration),
        flow_(x_.schedule, x_.flow, most_attempts_of(x_)),
        shared_{.task = x_.task,
                .best = x_.beam.front(),
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
                .stops = x_.stops} {
    outcomes_.reserve(static_cast<std::size_t>(most_attempts_of(x_)));
    for (const Candidate& candidate : x_.beam) {
      parents_.push_back(std::make_unique<Parent>());
      if (const auto tried = x_.tried.find(candidate.kernel.id()); tried != x_.tried.end())
        parents_.back()->tried = agents::TriedList(tried->second);
    }
  }

  base::Result<std::vector<AttemptOutcome>> run() {
    {
      Threads branches(x_.threads);
      for (int parent = 0; parent < static_cast<int>(x_.beam.size()); ++parent) {
        if (x_.settings.asking == Asking::together) {
          in_turn_or_beside(branches, [this, parent] { explore_parent(parent); });
          continue;
        }
        for (int plan = 0; plan < plans_of(parent); ++plan) {
          explore_beside(branches, [this, parent, plan] { explore_branch(parent, plan); });
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
  using Threads = base::ThreadCache::Group;

  template <class Work>
  void in_turn_or_beside(Threads& threads, Work work) {
    if (x_.schedule == Schedule::serial)
      work();
    else
      threads.run(std::move(work));
  }

  /// A branch's K attempts count as in flight until it ends.
  template <class Work>
  void explore_beside(Threads& threads, Work work) {
    if (x_.schedule != Schedule::serial) flow_.admit(x_.settings.attempts);
    in_turn_or_beside(threads, [this, work] {
      work();
      if (x_.schedule != Schedule::serial) flow_.release(x_.settings.attempts);
    });
  }

  /// One question for all plans, and a branch for each.
  void explore_parent(int parent) {
    if (plans_of(parent) == 0) return;
    const Identity identity{.iteration = x_.iteration, .parent = parent};
    const auto answer = durable(ask_for_plans(identity));
    const std::size_t given = answer && answer->value ? answer->value->size() : 0;
    const std::string note = !answer      ? answer.error().message
                             : given == 0 ? "no plan: " + answer->lost
                                          : "no plan: the planner gave " + std::to_string(given);
    Threads branches(x_.threads);
    for (int plan = 0; plan < plans_of(parent); ++plan) {
      Identity own = identity;
      own.plan = plan;
      if (static_cast<std::size_t>(plan) < given) {
        explore_beside(branches, [this, own, &plan_of = (*answer->value)[static_cast<std::size_t>(plan)]] {
          attempt_all(own, plan_of);
        });
      } else {
        lose_all(own, note, answer ? std::nullopt : std::optional(answer.error()));
      }
    }
  }

  /// One plan and its K attempts.
  void explore_branch(int parent, int plan) {
    const Identity identity{.iteration = x_.iteration, .parent = parent, .plan = plan};
    const auto answer = durable(ask_for_plan(identity));
    if (answer && answer->value)
      attempt_all(identity, *answer->value);
    else
      lose_all(identity, answer ? "no plan: " + answer->lost : answer.error().message,
               answer ? std::nullopt : std::optional(answer.error()));
  }

  /// An answer that this thread was given, for the threads of the attempts to ask on.
  template <class T>
  base::Outcome<T> durable(base::Outcome<T> answer) {
    if (answer) TRY(x_.asker.make_durable());
    return answer;
  }

  [[nodiscard]] int plans_of(int parent) const {
    return plans_for(x_.settings, static_cast<std::size_t>(parent), x_.beam.size());
  }

  /// Each attempt on a thread of its own unless everything is done one by one.
  void attempt_all(const Identity& identity, const model::Plan& plan) {
    const auto question = std::make_shared<agents::CommonText>();
    Threads attempts(x_.threads);
    for (int attempt = 0; attempt < x_.settings.attempts; ++attempt) {
      Identity own = identity;
      own.attempt = attempt;
      in_turn_or_beside(attempts, [this, own, &plan, &question] { carry_out(own, plan, question); });
    }
  }

  void carry_out(const Identity& identity, const model::Plan& plan,
                 const std::shared_ptr<agents::CommonText>& question) {
    Flow::Seat seat(flow_);
    x_.asker.begin_attempt();  // the plan is durable, and the thread may come from another attempt
    agents::Context own = context(identity);
    own.common = question;
    auto outcome = run_attempt(shared_, seat, own, x_.beam[static_cast<std::size_t>(identity.parent)], plan);
    const std::scoped_lock lock(mutex_);
    if (outcome)
      outcomes_.push_back(std::move(*outcome));
    else if (!error_)
      error_ = outcome.error();
  }

  base::Outcome<agents::Answer<model::Plan>> ask_for_plan(const Identity& identity) {
    TRY_ASSIGN(const auto question, question_of(identity));
    return x_.asker.plan(question, input_hash_of(question), x_.stops.wind_down);
  }

  base::Outcome<agents::Answer<std::vector<model::Plan>>> ask_for_plans(const Identity& identity) {
    TRY_ASSIGN(auto question, question_of(identity));
    question.plans = plans_of(identity.parent);
    return x_.asker.plans(question, input_hash_of(question), x_.stops.wind_down);
  }

  /// The list of tried plans alone can be thousands: it is hashed once for all questions on a parent.
  const std::string& input_hash_of(const agents::PlanQuestion& question) {
    Parent& parent = *parents_[static_cast<std::size_t>(question.context.identity.parent)];
    std::call_once(parent.hashed, [&] { parent.input_hash = Asker::input_hash(question); });
    return parent.input_hash;
  }

  base::Outcome<agents::PlanQuestion> question_of(const Identity& identity) {
    flow_.before_question(x_.stops.wind_down);
    if (x_.stops.wind_down.stop_requested()) return base::ending("the run is ending");
    const Candidate& parent = x_.beam[static_cast<std::size_t>(identity.parent)];
    x_.events.on(model::AttemptMoved{identity, model::AttemptState::planning, "", model::Status::not_measured,
                                     std::nullopt, ""});
    agents::PlanQuestion question{context(identity),
                                  parent.kernel,
                                  parent.evaluation,
                                  x_.memory[static_cast<std::size_t>(identity.parent)],
                                  {},
                                  x_.lineages[static_cast<std::size_t>(identity.parent)]};
    question.context.hints = x_.hints;
    question.context.common = parents_[static_cast<std::size_t>(identity.parent)]->question;
    if (!parent.workloads.empty()) question.evaluation.workloads = parent.workloads;
    question.evaluation.samples.clear();
    if (!question.evaluation.profile) {
      TRY_ASSIGN(question.evaluation.profile, profile_of(parent.kernel));
    }
    if (model::failed_in_profile(question.evaluation)) {
      return base::ending("its parent failed " + question.evaluation.profile->failure);
    }
    if (question.evaluation.tuning) question.evaluation.tuning->heats.clear();
    question.tried = parents_[static_cast<std::size_t>(identity.parent)]->tried;
    TRY_ASSIGN(question.tie, tie_beside(parent));
    return question;
  }

  /// Recorded once a kernel: whichever question comes first has it measured. None where the run or its record ends.
  base::Outcome<std::optional<model::Profile>> profile_of(const model::Kernel& kernel) {
    auto profile = x_.measurer.profile(kernel, x_.stops.abort);
    if (profile) return std::optional(std::move(*profile));
    const Why why = profile.error().why;
    if (why == Why::ending || why == Why::not_on_record) return std::nullopt;
    return tl::make_unexpected(profile.error());  // put off: the question would be another one without it
  }

  /// Only models read what did not change.
  base::Outcome<std::optional<agents::MeasuredTie>> tie_beside(const Candidate& parent) {
    const Ties::Tie* const tie = x_.settings.asking == Asking::together ? x_.ties.beside(parent) : nullptr;
    if (tie == nullptr) return std::nullopt;
    TRY_ASSIGN(auto profile, profile_of(tie->kernel));
    if (!profile) return std::nullopt;
    return agents::MeasuredTie{tie->plan, tie->before, std::move(*profile)};
  }

  /// All attempts of a branch that has no plan, and why where that is no answer of the planner.
  void lose_all(const Identity& branch, const std::string& note, const std::optional<base::NotDone>& why) {
    for (int attempt = 0; attempt < x_.settings.attempts; ++attempt) lose(branch, attempt, note, why);
  }

  void lose(const Identity& branch, int attempt, const std::string& note, const std::optional<base::NotDone>& why) {
    const Flow::Seat seat(flow_);
    AttemptOutcome outcome;
    outcome.identity = branch;
    outcome.identity.attempt = attempt;
    outcome.parent = branch.parent;
    outcome.note = note;
    outcome.put_off = why && why->why == Why::put_off;
    first_answers_.announce(outcome.identity, "");
    x_.events.on(model::AttemptMoved{outcome.identity, model::AttemptState::done, "", model::Status::not_measured,
                                     std::nullopt, outcome.note});
    const std::scoped_lock lock(mutex_);
    if (why && why->why == Why::failed && !error_) error_ = why->as_error();
    outcomes_.push_back(std::move(outcome));
  }

  [[nodiscard]] agents::Context context(const Identity& identity) const {
    return {identity, &x_.task, x_.opened.task_header, device_line(x_.opened.device), x_.seed, x_.run};
  }

  /// An attempt whose failing answer turned out to be the one that an earlier attempt gave too stands as it failed, as
  /// it would had it heard in time: its fixes would else be a decision that the order of arrival made.
  void drop_late_fixes() {
    for (AttemptOutcome& outcome : outcomes_) {
      if (!outcome.first_failure) continue;
      const Candidate& first = *outcome.first_failure;
      Identity identity = first.identity;
      identity.fix = -1;
      if (!first_answers_.given_before(identity, first.kernel.id(), 0, std::chrono::milliseconds(0))) continue;
      outcome.identity = first.identity;
      outcome.candidate = first;
      outcome.broken.reset();
      outcome.failed_fixes.clear();
      outcome.put_off = false;
      outcome.note.clear();
      outcome.duplicate = true;
    }
  }

  /// Of equal programs of one parent, whichever was measured first, the first by identity is the original.
  void mark_duplicates() {
    std::vector<evaluation::RacedAttempt> raced = as_raced(outcomes_);
    evaluation::mark_duplicates(raced);
    for (std::size_t i = 0; i < raced.size(); ++i) outcomes_[i].duplicate = raced[i].duplicate;
  }

  /// What all questions on one member of the beam have in common.
  struct Parent {
    agents::TriedList tried;
    std::shared_ptr<agents::CommonText> question = std::make_shared<agents::CommonText>();
    std::once_flag hashed;
    std::string input_hash;
  };

  const Exploration& x_;
  std::vector<std::unique_ptr<Parent>> parents_;
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

std::string device_line(const evaluation::DeviceInfo& device) {
  return device.summary + (device.compiler.empty() ? "" : "; compiler: " + device.compiler);
}

std::string outcome_text(const AttemptOutcome& outcome) {
  if (!outcome.candidate) return outcome.note.empty() ? "no answer" : outcome.note;
  const model::Evaluation& evaluation = outcome.candidate->evaluation;
  if (evaluation.status != model::Status::passed) return std::string(model::to_string(evaluation.status));
  if (!evaluation.ratio)
    return outcome.duplicate ? "known already, not raced against this kernel" : "passed, not raced";
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", evaluation.ratio->estimate);
  return outcome.duplicate ? std::string(text) + " (known already)" : text;
}

}  // namespace accelopt::search
