// SPDX-License-Identifier: Apache-2.0
#include "search/attempt.hpp"
#include "search/recorder.hpp"

#include <algorithm>
#include <set>

#include "evaluation/entrants.hpp"
#include "evaluation/judge.hpp"
#include "model/kernel.hpp"

namespace accelopt::search {

using base::Why;
using model::AttemptState;
using model::Evaluation;
using model::Identity;
using model::Kernel;
using model::Status;

void FirstAnswers::announce(const Identity& attempt, const std::string& source_id) {
  {
    const std::scoped_lock lock(mutex_);
    answers_[attempt] = source_id;
  }
  changed_.notify_all();
}

bool FirstAnswers::given_before(const Identity& attempt, const std::string& source_id, int before,
                                std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto earlier = [&](const Identity& other) { return other.parent == attempt.parent && other < attempt; };
  const auto equal = [&] {
    return std::any_of(answers_.begin(), answers_.end(),
                       [&](const auto& answer) { return earlier(answer.first) && answer.second == source_id; });
  };
  changed_.wait_for(lock, patience, [&] {
    return equal() || std::count_if(answers_.begin(), answers_.end(),
                                    [&](const auto& answer) { return earlier(answer.first); }) >= before;
  });
  return equal();
}

namespace {

/// The run's measurements as one judgement asks for them: what is on record is not made again.
class RecordedEvaluator final : public evaluation::Evaluator {
 public:
  RecordedEvaluator(Measurer& measurer, const Identity& identity, const Kernel& candidate, const Candidate& parent)
      : measurer_(measurer), identity_(identity), candidate_(candidate), parent_(parent) {}

  base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    if (std::holds_alternative<evaluation::Build>(request)) return build(std::move(stop));
    ACCELOPT_ASSERT(std::holds_alternative<evaluation::Race>(request), "an attempt builds and races");
    return measurer_.triage(identity_, candidate_, machine_code_id_, parent_.kernel, std::move(stop));
  }

 private:
  base::Outcome<evaluation::Reply> build(std::stop_token stop) {
    const auto built = measurer_.build(candidate_, std::move(stop));
    if (!built && built.error().why == Why::put_off)
      measurer_.expect_race(candidate_, parent_.kernel, parent_.machine_code_id);
    if (built) machine_code_id_ = built->machine_code_id;
    return built;
  }

  Measurer& measurer_;
  const Identity& identity_;
  const Kernel& candidate_;
  const Candidate& parent_;
  std::string machine_code_id_;
};

class Attempt {
 public:
  Attempt(AttemptShared& shared, Flow::Seat& seat, agents::Context context, const Candidate& parent,
          const model::Plan& plan)
      : shared_(shared), seat_(seat), context_(std::move(context)), parent_(parent), plan_(plan) {
    outcome_.identity = context_.identity;
    outcome_.parent = context_.identity.parent;
    outcome_.plan = plan;
  }

  ~Attempt() {
    if (!announced_) announce("");
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  base::Result<AttemptOutcome> run() {
    auto answer = execute();
    if (!answer) return give_up(answer.error());
    if (!*answer) return finish();
    for (int fix = 0;; ++fix) {
      context_.identity.fix = fix;
      seat_.enter(Flow::Stage::judge(fix));
      const Kernel kernel = **answer;
      auto judged = judge(kernel);
      if (!judged && judged.error().why == Why::put_off) {
        outcome_.unmeasured = kernel;
        outcome_.fixable = fix < shared_.fixes;
      }
      if (!judged) return give_up(judged.error());
      outcome_.duplicate = judged->known;
      const bool mended = fix > 0 && judged->evaluation.status == Status::passed && !outcome_.duplicate;
      if (mended) tell_mend();
      keep(kernel, *std::move(judged));
      const Evaluation& evaluation = outcome_.candidate->evaluation;
      if (fix == shared_.fixes || outcome_.duplicate || !evaluation::can_be_fixed(evaluation.status)) return finish();
      if (fix == 0 && given_before()) return finish();
      if (fix == 0) outcome_.first_failure = outcome_.candidate;
      failed_.insert(outcome_.candidate->kernel.id());
      answer = mend(kernel, evaluation, fix + 1);
      earlier_.push_back({kernel, evaluation.status, evaluation.reason});
      if (!answer) return give_up(answer.error());
      if (!*answer) return finish();
    }
  }

 private:
  /// What the plan's own file did is what a mend teaches; the fixes between failed on the way.
  void tell_mend() {
    outcome_.broken = outcome_.first_failure;
    for (std::size_t i = 1; i < earlier_.size(); ++i) outcome_.failed_fixes.push_back(earlier_[i].status);
  }

  /// The executor's solution; nothing when the answer was lost.
  base::Outcome<std::optional<Kernel>> execute() {
    seat_.enter(Flow::Stage::execute());
    shared_.flow.before_question(shared_.stops.wind_down);
    if (ending()) return base::ending("the run is ending");
    move_to(AttemptState::executing);
    context_.identity.fix = 0;
    TRY_ASSIGN(const auto answer,
               shared_.asker.execute({context_, parent_.kernel, plan_, better()}, shared_.stops.wind_down, kept()));
    if (!answer.value) {
      outcome_.note = "no answer: " + answer.lost;
      return std::nullopt;
    }
    Kernel kernel = *answer.value;
    announce(kernel.id());
    return kernel;
  }

  /// The best kernel of the beam, where it is faster than the parent beyond doubt.
  [[nodiscard]] std::optional<agents::BetterKernel> better() const {
    const Candidate& best = shared_.best;
    if (best.kernel.id() == parent_.kernel.id() || best.score.low <= parent_.score.high) return std::nullopt;
    return agents::BetterKernel{best.kernel, best.score.estimate / parent_.score.estimate};
  }

  /// The fixer's solution; nothing when there is none, or when it is one that has failed already.
  base::Outcome<std::optional<Kernel>> mend(const Kernel& broken, const Evaluation& judged, int fix) {
    seat_.enter(Flow::Stage::fix(fix));
    shared_.flow.before_question(shared_.stops.wind_down);
    if (ending()) return std::nullopt;  // the failed solution stands
    move_to(AttemptState::fixing);
    context_.identity.fix = fix;
    const agents::FixQuestion question{context_,      parent_.kernel, broken,   plan_,
                                       judged.status, judged.reason,  earlier_, better()};
    const auto answer = shared_.asker.fix(question, shared_.stops.wind_down, kept());
    if (!answer && answer.error().why == Why::failed) return tl::make_unexpected(answer.error());
    if (!answer) {
      outcome_.put_off = answer.error().why == Why::put_off;
      return std::nullopt;
    }
    if (!answer->value) {
      outcome_.note = "no fix: " + answer->lost;
      return std::nullopt;
    }
    Kernel kernel = *answer->value;
    if (failed_.contains(kernel.id())) {
      outcome_.note = "the fix is a solution that has failed already";
      return std::nullopt;
    }
    title_ = answer->title;
    return kernel;
  }

  base::Outcome<evaluation::Judgement> judge(const Kernel& kernel) {
    const evaluation::KnownPrograms known{parent_.kernel.id(), parent_.machine_code_id, shared_.known_sources,
                                          shared_.known_machine_code};
    std::optional<Flow::Judging> judging;
    const auto begin = [&](evaluation::JudgeStep step) -> base::Outcome<void> {
      const bool build = step == evaluation::JudgeStep::build;
      if (build) judging.emplace(shared_.flow);
      if (winding_down()) return base::ending("the run is ending");
      if (build) TRY(take_evaluation(kernel));
      move_to(build ? AttemptState::building : AttemptState::measuring);
      return {};
    };
    RecordedEvaluator evaluator(shared_.measurer, context_.identity, kernel, parent_);
    auto judged = evaluation::judge(evaluator, kernel, parent_.kernel,
                                    {.known = &known, .begin = begin, .stop = shared_.stops.abort});
    kept_.give_back();
    return judged;
  }

  /// In stages, all answers come before the first evaluation: one that waited for another's would wait for ever.
  [[nodiscard]] Budget::KeptEvaluation* kept() {
    return shared_.flow.schedule() == Schedule::stages ? nullptr : &kept_;
  }

  base::Outcome<void> take_evaluation(const Kernel& kernel) {
    TRY_ASSIGN(const OnRecord on_record, shared_.measurer.build_on_record(kernel));
    // A replay builds nothing and takes nothing: the build says that it is not on record, as where the budget of the
    // run had no evaluation left.
    if (on_record == OnRecord::no && shared_.measurer.replaying()) return {};
    const bool taken = shared_.budget.take_evaluation(kernel.id(), on_record);
    kept_.give_back();
    if (taken) return {};
    return base::ending("no evaluation is left in the budget");
  }

  void keep(const Kernel& answer, evaluation::Judgement judged) {
    outcome_.identity = context_.identity;
    model::Plan plan = plan_;
    if (!title_.empty()) plan.title = title_;
    outcome_.candidate = Candidate{.identity = context_.identity,
                                   .kernel = judged.chosen ? *judged.chosen : answer,
                                   .machine_code_id = judged.evaluation.machine_code_id,
                                   .plan = std::move(plan),
                                   .parent_source_id = parent_.kernel.id(),
                                   .evaluation = std::move(judged.evaluation),
                                   .score = {},
                                   .workloads = {},
                                   .open = judged.chosen ? std::optional(answer) : std::nullopt};
  }

  bool given_before() {
    const Identity& id = context_.identity;
    const bool before = shared_.first_answers.given_before(first_identity(), outcome_.candidate->kernel.id(),
                                                           id.plan * shared_.attempts + id.attempt,
                                                           shared_.flow.limits().equal_answers);
    outcome_.duplicate = outcome_.duplicate || before;
    return before;
  }

  [[nodiscard]] Identity first_identity() const {
    Identity identity = context_.identity;
    identity.fix = -1;
    return identity;
  }

  void announce(const std::string& source_id) {
    announced_ = true;
    shared_.first_answers.announce(first_identity(), source_id);
  }

  [[nodiscard]] bool winding_down() const { return shared_.stops.wind_down.stop_requested(); }
  // The budget does not count here: what is on record is read whatever is left, and the rest it refuses itself.
  [[nodiscard]] bool ending() const { return winding_down(); }

  base::Result<AttemptOutcome> give_up(const base::NotDone& reason) {
    if (reason.why == Why::failed) return tl::make_unexpected(reason.as_error());
    outcome_.put_off = reason.why == Why::put_off;
    if (!outcome_.candidate) outcome_.note = reason.message;
    return finish();
  }

  AttemptOutcome finish() {
    model::AttemptMoved moved{outcome_.identity,    AttemptState::done, plan_.title,
                              Status::not_measured, std::nullopt,       outcome_.note};
    if (outcome_.candidate) {
      moved.status = outcome_.candidate->evaluation.status;
      moved.ratio = outcome_.candidate->evaluation.ratio;
      moved.verdict = outcome_.candidate->evaluation.verdict;
      const std::string& reason = outcome_.candidate->evaluation.reason;
      if (moved.status == Status::not_measured && !reason.empty()) moved.note = model::kNotMeasured + reason;
      if (outcome_.duplicate) moved.note = model::kKnownAlready;
    }
    shared_.events.on(moved);
    return std::move(outcome_);  // samples and diagnostics can be long
  }

  void move_to(AttemptState state) {
    shared_.events.on(
        model::AttemptMoved{context_.identity, state, plan_.title, Status::not_measured, std::nullopt, ""});
  }

  AttemptShared& shared_;
  Flow::Seat& seat_;
  agents::Context context_;
  const Candidate& parent_;
  const model::Plan& plan_;
  AttemptOutcome outcome_;
  Budget::KeptEvaluation kept_{shared_.budget};
  std::set<std::string> failed_;
  std::vector<agents::FailedTry> earlier_;  ///< oldest first
  std::string title_;                       ///< what the last fix says that the solution now is
  bool announced_ = false;
};

}  // namespace

base::Result<AttemptOutcome> run_attempt(AttemptShared& shared, Flow::Seat& seat, const agents::Context& context,
                                         const Candidate& parent, const model::Plan& plan) {
  return Attempt(shared, seat, context, parent, plan).run();
}

}  // namespace accelopt::search
