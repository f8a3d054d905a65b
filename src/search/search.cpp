// SPDX-License-Identifier: Apache-2.0
#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/thread_cache.hpp"
#include "memory/queue.hpp"
#include "model/measure.hpp"
#include "search/decision_line.hpp"
#include "search/exploration.hpp"
#include "search/hints.hpp"
#include "search/learning.hpp"
#include "search/play_off.hpp"
#include "search/recollection.hpp"
#include "search/roofline_share.hpp"

namespace accelopt::search {

using base::ErrorCode;
using base::Json;
using base::Outcome;
using base::Result;
using base::Why;
using model::EndReason;
using model::Status;
using model::step_name;
using model::StepKind;

namespace {

/// What a further candidate of the same program is told: of a large run's memory it is the largest part.
std::shared_ptr<const model::Evaluation> known_of(const model::Evaluation& evaluation) {
  auto known = std::make_shared<model::Evaluation>(evaluation);
  known->samples = {};
  known->stages = {};
  return known;
}

/// Most attempts of one iteration where all of them have to stand side by side, each on a thread of its own.
constexpr int kMostAttemptsInStages = 4096;

class Search {
 public:
  Search(const RunRequest& request, const RunPorts& ports, const Stops& stops)
      : request_(request),
        settings_(request.settings),
        ports_(ports),
        stops_(stops),
        recorder_(*ports.journal, request.run, request.missing),
        own_budget_(request.missing == Missing::leave_it ? without_budgets(request.settings) : request.settings),
        budget_(ports.budget != nullptr ? *ports.budget : own_budget_),
        asker_(ports.team, recorder_, budget_),
        measurer_(ports.evaluator, recorder_, request_.task, request_.measure, ports.lookahead),
        recollection_(ports.knowledge, recorder_, request_.task, settings_),
        hints_(ports.hints, recorder_, *ports.events) {}

  /// The method. Each iteration: plan and attempt (explore), summarize the telling pairs and, meanwhile, race what was
  /// found beside its parents and keep the best (learn_and_select); at the end the incumbent is confirmed in fresh
  /// processes, and only that is reported.
  Outcome<void> search() {
    TRY(mark_session());
    TRY(verify_baseline());
    while (!stopped_by_) {
      TRY_ASSIGN(const auto outcomes, explore());
      if (stopping()) break;
      TRY(learn_and_select(outcomes));
      if (stopping()) break;
      TRY(decide_whether_to_stop());
    }
    if (stopping()) return {};
    if (settings_.developers > 0 && !finalists_.empty()) TRY(review());
    return stopping() ? Outcome<void>() : confirm();
  }

  Result<RunReport> run() {
    const auto searched = search();
    const auto settled = recorder_.settle();
    if (!searched && searched.error().why != Why::put_off) return tl::make_unexpected(searched.error().as_error());
    TRY(settled);
    if (!searched) waiting_ = true;
    return finish();
  }

 private:
  [[nodiscard]] bool interrupted() const { return stops_.wind_down.stop_requested(); }
  [[nodiscard]] bool stopping() const { return interrupted() || waiting_; }

  /// Where the clock of the steps that follow begins: a run that is resumed has several sessions.
  Result<void> mark_session() {
    if (recorder_.replaying()) return {};
    const std::string number = std::to_string(base::random_seed());
    return recorder_.record({{}, step_name(StepKind::session, number)}, {},
                            {{"schedule", to_string(request_.schedule)}});
  }

  /// The log itself, so that a replay that decides otherwise can say where.
  Result<void> keep_decisions(const std::string& hash) {
    if (recorder_.replaying()) return {};
    return recorder_.record({{}, step_name(StepKind::decisions)}, {{"hash", hash}}, decisions_);
  }

  Outcome<void> verify_baseline() {
    // Nothing is found yet that a run which winds down could finish.
    TRY_ASSIGN(opened_, measurer_.open(stops_.wind_down));
    if (opened_.baseline.status != Status::passed) {
      return base::fail(ErrorCode::invalid_argument, "the baseline of " + request_.task.definition.name + " fails: " +
                                                         std::string(model::to_string(opened_.baseline.status)) + ": " +
                                                         opened_.baseline.reason);
    }
    baseline_.kernel = model::Kernel(request_.task.baseline);
    baseline_.machine_code_id = opened_.baseline.machine_code_id;
    baseline_.evaluation = opened_.baseline;
    baseline_.workloads = opened_.baseline.workloads;
    const model::Kernel& kernel = baseline_.kernel;
    if (!recorder_.replaying()) TRY(ports_.journal->record_solutions({kernel}));
    const auto known = known_of(baseline_.evaluation);
    known_sources_[kernel.id()] = known;
    known_machine_code_[baseline_.machine_code_id] = known;
    beam_ = {baseline_};
    const int widest = beam_width(settings_);
    if (settings_.strategy == Strategy::repeated_sampling) beam_.assign(static_cast<std::size_t>(widest), baseline_);
    ports_.events->on(model::RunStarted{request_.run, request_.task.definition.name, opened_.device.name,
                                        settings_.iterations, geometric_mean_ns(opened_.baseline.workloads),
                                        least_roofline(opened_.baseline.workloads), most_evaluations(settings_),
                                        request_.task.repo ? request_.task.definition.op_type : std::string()});
    if (settings_.near_roofline > 0 && least_roofline(opened_.baseline.workloads) >= 1 - settings_.near_roofline) {
      stopped_by_ = EndReason::near_roofline;
    }
    return {};
  }

  /// Plans and attempts of one iteration, in order of identity.
  Outcome<std::vector<AttemptOutcome>> explore() {
    ports_.events->on(model::IterationStarted{iteration_, static_cast<int>(beam_.size())});
    TRY_ASSIGN(const std::string hints, hints_.take(iteration_));
    TRY_ASSIGN(shown_, recollection_.shown(iteration_, beam_, memory_));
    const std::vector<agents::Lineage> lineages = ancestry_.lineages(beam_, tried_);
    Exploration exploration{.task = request_.task,
                            .opened = opened_,
                            .settings = settings_,
                            .seed = request_.seed,
                            .run = request_.run,
                            .iteration = iteration_,
                            .hints = hints,
                            .beam = beam_,
                            .memory = shown_,
                            .tried = tried_,
                            .lineages = lineages,
                            .ties = ties_,
                            .known_sources = known_sources_,
                            .known_machine_code = known_machine_code_,
                            .asker = asker_,
                            .measurer = measurer_,
                            .budget = budget_,
                            .events = *ports_.events,
                            .stops = stops_,
                            .schedule = schedule(),
                            .flow = request_.flow,
                            .threads = threads_};
    TRY_ASSIGN(auto outcomes, search::explore(exploration));
    waiting_ = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.put_off; });
    if (waiting_) {
      TRY(hints_.close(iteration_));
      expect_play_off(outcomes);
    }
    TRY(keep_profiles());
    const bool any =
        std::any_of(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.candidate.has_value(); });
    if (const auto reason = asker_.unanswered(); reason && !any && !stopping()) {
      return tl::make_unexpected(
          base::with_context(*reason, "no question of iteration " + std::to_string(iteration_ + 1) + " was answered"));
    }
    if (!stopping()) TRY(asker_.settle());
    TRY(remember(outcomes));
    TRY(recorder_.settle());
    return outcomes;
  }

  /// Where all that is missing are measurements, what comes after them is known by rule: it can travel with them.
  void expect_play_off(const std::vector<AttemptOutcome>& outcomes) {
    std::vector<std::string> known_code;
    for (const auto& [code, evaluation] : known_machine_code_) known_code.push_back(code);
    std::ranges::sort(known_code);
    const bool last = iteration_ + 1 >= settings_.iterations || budget_.exhausted() ||
                      (settings_.patience > 0 && rounds_without_new_incumbent_ + 1 >= settings_.patience);
    search::expect_play_off(selecting(), outcomes, std::move(known_code),
                            last ? evaluation::Leader::confirmed : evaluation::Leader::left);
  }

  /// The profiles that the planners were shown stay with the parents, for the summarizer.
  Result<void> keep_profiles() {
    for (Candidate& parent : beam_) {
      if (parent.evaluation.profile || stopping()) continue;
      auto profile = measurer_.profile(parent.kernel, stops_.abort);
      if (profile)
        parent.evaluation.profile = *profile;
      else if (profile.error().why == Why::failed)
        return tl::make_unexpected(profile.error().as_error());
      else if (profile.error().why == Why::put_off)
        waiting_ = true;
    }
    return {};
  }

  /// A replay has nothing to wait for.
  [[nodiscard]] Schedule schedule() const { return recorder_.replaying() ? Schedule::serial : request_.schedule; }

  /// Files what an iteration found: known sources and machine code, plans tried, solutions, counts.
  Result<void> remember(const std::vector<AttemptOutcome>& outcomes) {
    std::vector<model::Kernel> solutions;
    for (const AttemptOutcome& outcome : outcomes) {
      const Candidate& parent = beam_[static_cast<std::size_t>(outcome.parent)];
      if (outcome.identity.attempt == 0 && !outcome.plan.title.empty()) ++plans_;
      tried_[parent.kernel.id()].push_back({outcome.plan.title, outcome_text(outcome)});
      ancestry_.add(outcome, outcome_text(outcome));
      ties_.add(outcome, outcome_text(outcome), parent);
      if (!outcome.candidate) {
        ++counts_[outcome.put_off ? "PUT_OFF" : "NO_ANSWER"];
        continue;
      }
      const Candidate& candidate = *outcome.candidate;
      ++counts_[std::string(model::to_string(candidate.evaluation.status))];
      if (outcome.duplicate) ++known_;
      // What a busy machine kept from being measured is measured where it is met again.
      if (candidate.evaluation.status != model::Status::not_measured) file_as_known(candidate);
      solutions.push_back(candidate.kernel);
      if (candidate.open) solutions.push_back(*candidate.open);
    }
    return recorder_.replaying() ? Result<void>() : ports_.journal->record_solutions(solutions);
  }

  void file_as_known(const Candidate& candidate) {
    const auto known = known_of(candidate.evaluation);
    known_sources_.try_emplace(candidate.kernel.id(), known);
    if (candidate.open) known_sources_.try_emplace(candidate.open->id(), known);
    if (!candidate.machine_code_id.empty()) known_machine_code_.try_emplace(candidate.machine_code_id, known);
  }

  /// The play-off needs no lesson and the lessons need no play-off: in a pipeline the device races while the summarizer
  /// writes.
  Outcome<void> learn_and_select(const std::vector<AttemptOutcome>& outcomes) {
    const std::vector<Candidate> parents = beam_;  // the play-off replaces them
    const std::vector<std::string> best_before = finalist_ids();
    Result<Lessons> lessons;
    Outcome<void> selected;
    if (schedule() == Schedule::pipeline) {
      const std::jthread learner([&] { lessons = learn(outcomes, parents); });
      selected = select(outcomes);
    } else {
      lessons = learn(outcomes, parents);
      if (lessons && !lessons->put_off && !stopping()) selected = select(outcomes);
    }
    if (!lessons) return tl::make_unexpected(lessons.error());
    TRY(selected);
    waiting_ = lessons->put_off;
    if (stopping()) return {};  // some lessons may be missing: a resumed run learns them all
    TRY(recorder_.settle());    // a store outside is told of it
    TRY(remember_lessons(*lessons));
    TRY(recollection_.contribute(iteration_, lessons->experiences, outcomes, parents, shown_));
    const bool same = finalist_ids() == best_before;
    rounds_without_new_incumbent_ = same ? rounds_without_new_incumbent_ + 1 : 0;
    if (!same && !finalists_.empty()) ++gains_;
    decisions_.push_back(decision_line({.iteration = iteration_,
                                        .outcomes = outcomes,
                                        .beam = beam_,
                                        .shown = shown_,
                                        .lessons = lessons_decide() ? *lessons : Lessons(),
                                        .memory = memory_,
                                        .incumbent = finalist_ids()}));
    ++iteration_;
    announce_selection();
    return {};
  }

  Result<Lessons> learn(const std::vector<AttemptOutcome>& outcomes, const std::vector<Candidate>& parents) {
    if (settings_.memory_capacity == 0 || settings_.memory_new == 0) return Lessons();
    TRY_ASSIGN(const bool used, lessons_are_used());
    if (!used) return Lessons();
    const Learning learning{.task = request_.task,
                            .opened = opened_,
                            .settings = settings_,
                            .run = request_.run,
                            .seed = request_.seed,
                            .iteration = iteration_,
                            .beam = parents,
                            .asker = asker_,
                            .measurer = measurer_,
                            .events = *ports_.events,
                            .stops = stops_,
                            .schedule = schedule()};
    return summarize_pairs(learning, outcomes, experiences_);
  }

  /// Those of the last round serve later runs alone; without a store none is paid for. A replay has none: recorded.
  Result<bool> lessons_are_used() {
    if (lessons_decide()) return true;
    const auto kept = recorder_.once<bool>({{}, step_name(StepKind::keeps_lessons)}, {},
                                           [&]() -> Outcome<bool> { return ports_.knowledge != nullptr; });
    if (!kept && kept.error().why != Why::not_on_record) return tl::make_unexpected(kept.error().as_error());
    return kept.value_or(true);
  }

  /// What the last round teaches decides nothing, and is no part of its log: a run decides alike with a store and
  /// without.
  [[nodiscard]] bool lessons_decide() const {
    return settings_.asking != Asking::together || iteration_ + 1 < settings_.iterations;
  }

  Result<void> remember_lessons(const Lessons& lessons) {
    const std::vector<model::Experience>& fresh = lessons.experiences;
    TRY(asker_.settle());
    experiences_ += static_cast<int>(fresh.size());
    if (!recorder_.replaying()) {
      for (const model::Experience& experience : fresh)
        TRY(ports_.journal->record_experience(request_.run, experience));
    }
    if (!lessons_decide()) return {};
    memory_ = settings_.rules == Rules::paper
                  ? memory::push_as_published(memory_, fresh, settings_.memory_capacity,
                                              base::derive_seed(request_.seed, "memory" + std::to_string(iteration_)))
                  : memory::push(memory_, fresh, settings_.memory_capacity);
    return {};
  }

  Selecting selecting() {
    return {.baseline = baseline_,
            .settings = settings_,
            .iteration = iteration_,
            .beam = beam_,
            .finalists = finalists_,
            .measurer = measurer_,
            .abort = stops_.abort,
            .counts = counts_};
  }

  Outcome<void> select(const std::vector<AttemptOutcome>& outcomes) {
    Selection next;
    if (settings_.rules == Rules::standard) {
      TRY_ASSIGN(next, play_off(selecting(), outcomes));
    } else {
      next = select_as_published(selecting(), outcomes);
    }
    for (const std::string& note : next.notes) ports_.events->on(model::Note{note});
    drop_failed(next);
    beam_ = std::move(next.beam);
    finalists_ = std::move(next.finalists);
    return {};
  }

  /// Leaves out what passed its race and failed while it was profiled; the baseline stands in for an empty beam.
  void drop_failed(Selection& next) {
    std::set<std::string> failed;
    for (const Candidate& parent : beam_) {
      if (model::failed_in_profile(parent.evaluation)) failed.insert(parent.kernel.id());
    }
    const auto is_failed = [&](const Candidate& candidate) { return failed.contains(candidate.kernel.id()); };
    if (failed.empty()) return;
    counts_["PROFILE_FAILED"] += static_cast<int>(failed.size());
    std::erase_if(next.beam, is_failed);
    std::erase_if(next.finalists, is_failed);
    if (next.beam.empty()) next.beam = {baseline_};
  }

  void announce_selection() {
    model::Selected selected{iteration_ - 1, {}, std::nullopt, budget_.evaluations(), budget_.total()};
    for (const Candidate& member : beam_) selected.beam.push_back({member.identity, member.plan.title, member.score});
    if (!finalists_.empty()) {
      selected.incumbent = {finalists_.front().identity, finalists_.front().plan.title, finalists_.front().score};
    }
    ports_.events->on(selected);
  }

  /// The incumbent's id, or nothing.
  [[nodiscard]] std::vector<std::string> finalist_ids() const {
    if (finalists_.empty()) return {};
    return {finalists_.front().kernel.id()};
  }

  /// Recorded, because a clock or a shared budget would decide otherwise the next time.
  Result<void> decide_whether_to_stop() {
    const Json input = {{"settings", without_budgets(settings_)}, {"incumbent", finalist_ids()}};
    auto decision = recorder_.once<std::string>({{.iteration = iteration_}, step_name(StepKind::stop)}, input,
                                                [&]() -> Outcome<std::string> { return name_of(reason_to_stop()); });
    if (!decision && decision.error().why != Why::not_on_record)
      return tl::make_unexpected(decision.error().as_error());
    stopped_by_ = decision ? model::named<EndReason>(*decision) : reason_to_stop();
    return {};
  }

  [[nodiscard]] std::optional<EndReason> reason_to_stop() const {
    if (const auto limit = budget_.ended_by()) return limit;
    if (settings_.near_roofline > 0 && !finalists_.empty() &&
        least_roofline(finalists_.front().workloads) >= 1 - settings_.near_roofline) {
      return EndReason::near_roofline;
    }
    if (!finalists_.empty() && settings_.is_enough(finalists_.front().score.low)) return EndReason::enough;
    if (settings_.patience > 0 && rounds_without_new_incumbent_ >= settings_.patience) return EndReason::patience;
    return iteration_ >= settings_.iterations ? std::optional(EndReason::iterations) : std::nullopt;
  }

  /// Finalists that are proved wrong are out, and the others are confirmed in the reviewer's order.
  Outcome<void> review() {
    TRY_ASSIGN(review_, review_finalists({.task_id = model::task_id(request_.task),
                                          .finalists = finalists_,
                                          .reviewer = ports_.reviewer,
                                          .recorder = recorder_,
                                          .budget = budget_,
                                          .events = *ports_.events,
                                          .stops = stops_}));
    if (!review_) return {};
    finalists_ = in_order(finalists_, review_->order);
    if (!review_->stopped.empty()) counts_["STOPPED_BY_REVIEW"] = static_cast<int>(review_->stopped.size());
    decisions_.push_back(decision_line(*review_));
    return {};
  }

  /// The best of the last play-off, in fresh processes on fresh inputs; the next ones when it does not hold.
  Outcome<void> confirm() {
    for (std::size_t place = 0; place < finalists_.size(); ++place) {
      const Candidate& finalist = finalists_[place];
      if (confirmation_ && budget_.exhausted()) return {};
      ports_.events->on(model::Confirming{finalist.identity, finalist.plan.title});
      auto evaluation = measurer_.confirm(finalist.kernel, stops_.abort);
      if (!evaluation) {
        const Why why = evaluation.error().why;
        if (why == Why::put_off) expect_confirmations(place);
        // Where the run itself goes on, waiting for the device was stopped: the confirmation is owed.
        if (why == Why::not_on_record || (why == Why::ending && stopping())) return {};
        return tl::make_unexpected(evaluation.error());
      }
      if (!confirmation_) confirmation_ = *evaluation;
      decisions_.push_back({{"confirm", finalist.kernel.id()},
                            {"status", model::to_string(evaluation->status)},
                            {"verdict", model::to_string(evaluation->verdict)}});
      if (evaluation->status != Status::passed || evaluation->verdict != model::Verdict::faster) continue;
      confirmation_ = *evaluation;
      winner_ = finalist;
      return {};
    }
    return {};
  }

  void expect_confirmations(std::size_t first) {
    std::vector<model::Kernel> rest;
    for (std::size_t place = first; place < finalists_.size(); ++place) rest.push_back(finalists_[place].kernel);
    measurer_.expect_confirmations(rest);
  }

  Result<RunReport> finish() {
    RunReport report;
    RunResult& result = report.result;
    result.run = request_.run;
    result.task = request_.task.definition.name;
    if (request_.task.repo) result.goal = request_.task.definition.op_type;
    result.stopped_by = interrupted() ? EndReason::signal : waiting_ ? EndReason::waiting : stopped_by_;
    result.stopped_because = why_stopped(result.stopped_by);
    result.outcome = winner_                                         ? RunOutcome::improved
                     : interrupted()                                 ? RunOutcome::interrupted
                     : waiting_                                      ? RunOutcome::waiting
                     : stopped_by_ && model::is_budget(*stopped_by_) ? RunOutcome::budget
                                                                     : RunOutcome::no_gain;
    if (winner_) {
      result.solution = winner_->kernel.solution();
      result.solution_id = winner_->kernel.id();
      const std::vector<agents::Lineage> lineages = ancestry_.lineages({*winner_}, tried_);
      for (const agents::TriedPlan& step : lineages.front().steps)
        result.strategy += (result.strategy.empty() ? "" : "; ") + step.title;
    } else {
      result.reason = waiting_ ? "it waits for answers from elsewhere" : why_no_gain();
      if (result.outcome == RunOutcome::budget && !budget_.explanation().empty())
        result.reason += std::string(kBudgetEndedIt) + budget_.explanation();
    }
    result.confirmation = confirmation_;
    if (review_) {
      result.reviewed = review_->summary;
      result.review = review_->report;
    }
    result.baseline = opened_.baseline.workloads;
    result.counts = counts_;
    result.known = known_;
    result.usage = budget_.by_role();
    for (const auto& [role, name] : model::Names<model::AgentRole>::kTable) result.usage.try_emplace(std::string(name));
    result.evaluations = budget_.evaluations();
    result.iterations = iteration_;
    result.experiences = experiences_;
    result.plans = plans_;
    result.gains = gains_;
    result.device_seconds = budget_.device_seconds();
    result.wall_seconds = budget_.elapsed_seconds();
    result.device = opened_.device.name;
    result.decision_hash = base::sha256_hex(base::canonical(decisions_));
    report.decisions = decisions_;
    if (!stopping()) TRY(keep_decisions(result.decision_hash));
    result.derived_reference = request_.task.derived_reference;
    report.questions_put_off = asker_.put_off() + (ports_.reviewer != nullptr ? ports_.reviewer->put_off() : 0);
    report.steps_found = recorder_.found();
    report.steps_absent = recorder_.absent();
    // Of a run without a winner, the reason holds the budget's words.
    if (winner_ && result.stopped_by && model::is_budget(*result.stopped_by) && !budget_.explanation().empty())
      ports_.events->on(model::Note{"the budget ended the search: " + budget_.explanation()});
    ports_.events->on(model::RunFinished{std::string(to_string(result.outcome)), name_of(result.stopped_by),
                                         winner_ ? confirmation_->ratio : std::nullopt, result.wall_seconds,
                                         result.stopped_because});
    return report;
  }

  /// What a person needs to know beside the word.
  [[nodiscard]] std::string why_stopped(std::optional<EndReason> by) const {
    if (by == EndReason::enough) return fmt::format("{:.3g}x is enough", settings_.enough);
    if (by != EndReason::near_roofline) return {};
    const auto& kernel = finalists_.empty() ? opened_.baseline.workloads : finalists_.front().workloads;
    const std::string where = farthest_from_roofline(kernel);
    return where.empty() ? where
                         : fmt::format("{}: {}; --near-roofline 0 searches on",
                                       finalists_.empty() ? "the baseline" : "the best candidate", where);
  }

  [[nodiscard]] std::string why_no_gain() const {
    const double share = least_roofline(opened_.baseline.workloads);
    const std::string where = share > 0 ? " (the baseline runs at " +
                                              std::to_string(static_cast<int>(std::lround(share * 100))) +
                                              " % of this machine's roofline)"
                                        : std::string();
    if (review_ && review_->order.empty()) return review_->why_none();
    if (confirmation_ && !confirmation_->reason.empty())
      return "the best candidate was not confirmed: " + confirmation_->reason + where;
    if (confirmation_) return "the best candidate was not confirmed" + where;
    if (budget_.evaluations() == 0 && known_ == 0) return "no candidate was evaluated" + where;
    return fmt::format("no candidate was {} than the baseline{}", model::measure_of(request_.task).better, where);
  }

  const RunRequest& request_;
  const SearchSettings& settings_;
  const RunPorts& ports_;
  const Stops& stops_;
  Recorder recorder_;
  Budget own_budget_;  ///< where none is given
  Budget& budget_;
  Asker asker_;
  Measurer measurer_;
  Recollection recollection_;
  Hints hints_;

  evaluation::OpenReport opened_;
  int iteration_ = 0;
  std::vector<Candidate> beam_;  ///< best first
  Candidate baseline_;
  std::vector<Candidate> finalists_;  ///< best of the last play-off, the incumbent first; never the baseline
  memory::Queue memory_;              ///< the run's own, newest first
  std::vector<memory::Queue> shown_;  ///< to this iteration's planners, by place in the beam
  TriedPlans tried_;
  Ancestry ancestry_;
  Ties ties_;
  evaluation::KnownEvaluations known_sources_;
  evaluation::KnownEvaluations known_machine_code_;
  std::map<std::string, int> counts_;
  int known_ = 0;  ///< attempts that led to a known program
  int experiences_ = 0;
  int rounds_without_new_incumbent_ = 0;
  int plans_ = 0;
  int gains_ = 0;         ///< times that another kernel became the incumbent
  bool waiting_ = false;  ///< something was put off: what depends on it may not be decided without it
  std::optional<EndReason> stopped_by_;
  std::optional<FinalistReview> review_;
  std::optional<model::Evaluation> confirmation_;
  std::optional<Candidate> winner_;
  Json decisions_ = Json::array();
  base::ThreadCache threads_;  ///< last: its threads use the rest
};

}  // namespace

base::Result<RunReport> run_search(const RunRequest& request, const RunPorts& ports, const Stops& stops) {
  TRY(check(request.settings));
  const SearchSettings& settings = request.settings;
  if (request.schedule == Schedule::stages && most_attempts(settings) > kMostAttemptsInStages) {
    return base::fail(ErrorCode::invalid_argument, "beam x plans x attempts is over " +
                                                       std::to_string(kMostAttemptsInStages) +
                                                       ", too many for --schedule stages; use pipeline");
  }
  return Search(request, ports, stops).run();
}

}  // namespace accelopt::search
