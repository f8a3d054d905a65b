// SPDX-License-Identifier: Apache-2.0
#include "search/attempt.hpp"
#include "search/recorder.hpp"

#include <algorithm>
#include <set>

#include "model/tuning.hpp"

namespace accelopt::search {

using base::ErrorCode;
using model::AttemptState;
using model::Evaluation;
using model::Identity;
using model::Solution;
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

/// Largest source that is worth a compiler's time, bytes.
constexpr std::size_t kLargestSource = std::size_t{256} << 10;

bool can_be_fixed(Status status) {
  return status == Status::compile_error || status == Status::runtime_error || status == Status::timeout ||
         status == Status::incorrect_shape || status == Status::incorrect_dtype ||
         status == Status::incorrect_numerical;
}

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
    auto solution = execute();
    if (!solution) return give_up(solution.error());
    if (!*solution) return finish();
    for (int fix = 0;; ++fix) {
      context_.identity.fix = fix;
      seat_.enter(Flow::Stage::judge(fix));
      auto judged = judge(**solution);
      if (!judged) return give_up(judged.error());
      const bool mended = fix > 0 && judged->status == Status::passed && !outcome_.duplicate;
      outcome_.broken = mended ? outcome_.candidate : std::nullopt;
      keep(**solution, *judged);
      if (fix == shared_.fixes || outcome_.duplicate || !can_be_fixed(judged->status)) return finish();
      if (fix == 0 && given_before()) return finish();
      if (fix == 0) outcome_.first_failure = outcome_.candidate;
      failed_.insert(outcome_.candidate->source_id);
      Solution broken = **solution;
      solution = mend(broken, *judged, fix + 1);
      earlier_.push_back({std::move(broken), judged->status, judged->reason});
      if (!solution) return give_up(solution.error());
      if (!*solution) return finish();
    }
  }

 private:
  /// The executor's solution; nothing when the answer was lost.
  base::Result<std::optional<Solution>> execute() {
    seat_.enter(Flow::Stage::execute());
    shared_.flow.before_question(shared_.stops.wind_down);
    if (ending()) return base::fail(ErrorCode::cancelled, "the run is ending");
    move_to(AttemptState::executing);
    context_.identity.fix = 0;
    TRY_ASSIGN(const auto answer,
               shared_.asker.execute({context_, parent_.solution, plan_, better()}, shared_.stops.wind_down));
    if (!answer.value) {
      outcome_.note = "no answer: " + answer.lost;
      return std::nullopt;
    }
    announce(model::source_id(*answer.value));
    return answer.value;
  }

  /// The best kernel of the beam, where it is faster than the parent beyond doubt.
  [[nodiscard]] std::optional<agents::BetterKernel> better() const {
    const Candidate& best = shared_.best;
    if (best.source_id == parent_.source_id || best.score.low <= parent_.score.high) return std::nullopt;
    return agents::BetterKernel{best.solution, best.score.estimate / parent_.score.estimate};
  }

  /// The fixer's solution; nothing when there is none, or when it is one that has failed already.
  base::Result<std::optional<Solution>> mend(const Solution& broken, const Evaluation& judged, int fix) {
    seat_.enter(Flow::Stage::fix(fix));
    shared_.flow.before_question(shared_.stops.wind_down);
    if (ending()) return std::nullopt;  // the failed solution stands
    move_to(AttemptState::fixing);
    context_.identity.fix = fix;
    const agents::FixQuestion question{context_,      parent_.solution, broken,   plan_,
                                       judged.status, judged.reason,    earlier_, better()};
    const auto answer = shared_.asker.fix(question, shared_.stops.wind_down);
    if (!answer && is_ending(answer.error())) return std::nullopt;
    if (!answer) return tl::make_unexpected(answer.error());
    if (!answer->value) {
      outcome_.note = "no fix: " + answer->lost;
      return std::nullopt;
    }
    if (failed_.contains(model::source_id(*answer->value))) {
      outcome_.note = "the fix is a solution that has failed already";
      return std::nullopt;
    }
    title_ = answer->title;
    return answer->value;
  }

  /// Sift, build, verify, race: the cheapest first, the first failure ends it.
  base::Result<Evaluation> judge(const Solution& solution) {
    const std::string source_id = model::source_id(solution);
    outcome_.duplicate = false;
    if (auto sifted = sift(solution)) return with_source(*sifted, source_id);
    if (source_id == parent_.source_id) return duplicate_of_parent(source_id);
    if (const auto known = shared_.known_sources.find(source_id); known != shared_.known_sources.end()) {
      return duplicate_of(known->second, source_id);
    }
    const Flow::Judging judging(shared_.flow);
    if (winding_down()) return base::fail(ErrorCode::cancelled, "the run is ending");
    TRY_ASSIGN(const OnRecord on_record, shared_.measurer.build_on_record(solution, source_id));
    if (!shared_.budget.take_evaluation(on_record))
      return base::fail(ErrorCode::cancelled, "no evaluation is left in the budget");

    move_to(AttemptState::building);
    const auto built = shared_.measurer.build(solution, source_id, shared_.stops.abort);
    if (!built) {
      if (built.error().code == ErrorCode::cancelled)
        shared_.measurer.expect_race(solution, parent_.solution, parent_.machine_code_id);
      return tl::make_unexpected(built.error());
    }
    const model::BuildReport& build = *built;
    if (!build.built) {
      Evaluation failed;
      failed.status = Status::compile_error;
      failed.reason = build.diagnostics;
      failed.stages.push_back({"build", build.seconds});
      return with_source(failed, source_id);
    }
    if (build.machine_code_id == parent_.machine_code_id) return duplicate_of_parent(source_id);
    if (const auto known = shared_.known_machine_code.find(build.machine_code_id);
        known != shared_.known_machine_code.end()) {
      return duplicate_of(known->second, source_id);
    }
    if (winding_down()) return base::fail(ErrorCode::cancelled, "the run is ending");

    move_to(AttemptState::measuring);
    TRY_ASSIGN(Evaluation evaluation,
               shared_.measurer.triage(context_.identity, solution, build.machine_code_id, parent_.solution,
                                       parent_.source_id, shared_.stops.abort));
    evaluation.stages.insert(evaluation.stages.begin(), {"build", build.seconds});
    if (evaluation.tuning) return settled(solution, evaluation, source_id);
    evaluation.machine_code_id = build.machine_code_id;
    return with_source(evaluation, source_id);
  }

  /// Of a solution that left values open, the configuration that was chosen: it may turn out to be a known program.
  Evaluation settled(const Solution& open, const Evaluation& evaluation, const std::string& open_id) {
    const std::optional<Solution> chosen = chosen_configuration(open, evaluation);
    if (!chosen) return with_source(evaluation, open_id);
    const std::string source_id = model::source_id(*chosen);
    const auto known = shared_.known_machine_code.find(evaluation.machine_code_id);
    const bool parents = evaluation.machine_code_id == parent_.machine_code_id;
    if (!parents && known == shared_.known_machine_code.end()) return with_source(evaluation, source_id);
    Evaluation same = parents ? duplicate_of_parent(source_id) : duplicate_of(known->second, source_id);
    same.tuning = evaluation.tuning;
    return same;
  }

  static std::optional<Solution> chosen_configuration(const Solution& open, const Evaluation& evaluation) {
    if (!evaluation.tuning || !evaluation.tuning->chosen) return std::nullopt;
    return model::with_values(open, *evaluation.tuning->chosen);
  }

  /// A tripwire for what no compiler needs to see; not a verdict on intent.
  static std::optional<Evaluation> sift(const Solution& solution) {
    Evaluation refused;
    refused.status = Status::compile_error;
    const std::string& text = model::main_text(solution);
    if (text.size() > kLargestSource) refused.reason = "the source is larger than 256 KiB";
    if (text.find('\0') != std::string::npos) refused.reason = "the source holds a NUL byte";
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) refused.reason = "the source is empty";
    return refused.reason.empty() ? std::nullopt : std::optional(refused);
  }

  static Evaluation with_source(Evaluation evaluation, const std::string& source_id) {
    evaluation.source_id = source_id;
    return evaluation;
  }

  Evaluation duplicate_of_parent(const std::string& source_id) {
    outcome_.duplicate = true;
    Evaluation same;
    same.status = Status::passed;
    same.verdict = model::Verdict::tie;
    same.ratio = model::Interval{1, 1, 1};
    same.reason = "the same program as its parent";
    same.opponent = parent_.source_id;
    same.machine_code_id = parent_.machine_code_id;
    same.duplicate_of = parent_.source_id;
    return with_source(same, source_id);
  }

  Evaluation duplicate_of(const Evaluation& known, const std::string& source_id) {
    outcome_.duplicate = true;
    Evaluation copy = known;
    copy.samples.clear();
    copy.stages.clear();
    copy.duplicate_of = known.source_id;
    return with_source(copy, source_id);
  }

  void keep(const Solution& answer, Evaluation evaluation) {
    outcome_.identity = context_.identity;
    // A duplicate of an open solution brings the tuning of the first with it.
    const bool open = evaluation.tuning && evaluation.tuning->source_id == model::source_id(answer);
    const std::optional<Solution> chosen = open ? chosen_configuration(answer, evaluation) : std::nullopt;
    const Solution& solution = chosen ? *chosen : answer;
    if (chosen) evaluation.source_id = model::source_id(*chosen);
    model::Plan plan = plan_;
    if (!title_.empty()) plan.title = title_;
    outcome_.candidate = Candidate{.identity = context_.identity,
                                   .solution = solution,
                                   .source_id = evaluation.source_id,
                                   .machine_code_id = evaluation.machine_code_id,
                                   .plan = plan,
                                   .parent_source_id = parent_.source_id,
                                   .evaluation = evaluation,
                                   .score = {},
                                   .workloads = {},
                                   .open = chosen ? std::optional(answer) : std::nullopt};
  }

  bool given_before() {
    const Identity& id = context_.identity;
    const bool before = shared_.first_answers.given_before(first_identity(), outcome_.candidate->source_id,
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

  base::Result<AttemptOutcome> give_up(const base::Error& error) {
    if (!is_ending(error)) return tl::make_unexpected(error);
    if (!outcome_.candidate) outcome_.note = error.message;
    return finish();
  }

  AttemptOutcome finish() {
    model::AttemptMoved moved{outcome_.identity,    AttemptState::done, plan_.title,
                              Status::not_measured, std::nullopt,       outcome_.note};
    if (outcome_.candidate) {
      moved.status = outcome_.candidate->evaluation.status;
      moved.ratio = outcome_.candidate->evaluation.ratio;
      const std::string& reason = outcome_.candidate->evaluation.reason;
      if (moved.status == Status::not_measured && !reason.empty()) moved.note = model::kNotMeasured + reason;
      if (outcome_.duplicate) moved.note = model::kKnownAlready;
    }
    shared_.events.on(moved);
    return outcome_;
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
