// SPDX-License-Identifier: Apache-2.0
// The play-off of parents and kept candidates, and the confirmation of its winner.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "base/duration.hpp"
#include "base/hash.hpp"
#include "evaluation/measuring.hpp"
#include "evaluation/race/recompute.hpp"
#include "stats/confirmation.hpp"
#include "stats/playoff.hpp"

namespace accelopt::evaluation {
namespace {

using model::Role;

constexpr std::array kTimed{Role::race, Role::held_out};
constexpr std::chrono::minutes kMostDrawing{10};  ///< for a confirmation, all of whose slots are its own

/// Times of one arm and of the baseline in the blocks that both ran.
struct PairedTimes {
  std::vector<std::vector<double>> reference_ns;
  std::vector<std::vector<double>> candidate_ns;

  void add(const std::vector<double>& reference, const std::vector<double>& candidate) {
    reference_ns.resize(reference.size());
    candidate_ns.resize(candidate.size());
    for (std::size_t i = 0; i < reference.size(); ++i) {
      reference_ns[i].push_back(reference[i]);
      candidate_ns[i].push_back(candidate[i]);
    }
  }
};

std::vector<model::WorkloadTiming> timings(const Measuring& measuring, const std::vector<std::size_t>& workloads,
                                           const PairedTimes& times) {
  std::vector<model::WorkloadTiming> out;
  if (times.candidate_ns.empty()) return out;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    out.push_back(workload_timing(measuring, workloads[i], times.reference_ns[i], times.candidate_ns[i]));
  }
  return out;
}

PlayoffSample sample_of_all(const Block& block, std::vector<int> failed) {
  PlayoffSample out{.times_ns = {}, .failed = std::move(failed), .slot = block.slot, .disturbed = block.disturbed};
  for (const auto& times : block.times_ns) out.times_ns.push_back(times.value_or(std::vector<double>()));
  for (const int arm : out.failed) out.times_ns[static_cast<std::size_t>(arm)].clear();
  return out;
}

/// `unbuilt` are the arms that the play-off knows as failed.
base::Result<PlayoffReport> race_arms(Measuring& measuring, const std::vector<Arm>& arms, stats::Playoff& playoff,
                                      BlockRunner& runner, PlayoffReport report, const std::vector<int>& unbuilt,
                                      const std::stop_token& stop) {
  const std::vector<std::size_t> workloads = measuring.workloads(kRaced);
  const std::vector<double> weights = measuring.weights(workloads);
  std::vector<PairedTimes> times(arms.size());
  std::vector<int> failed = unbuilt;
  while (!playoff.finished()) {
    const std::vector<int> active = playoff.active();
    const auto made = runner.next(active, stop);
    if (!made && !runner.ended().empty()) break;
    if (!made) return tl::make_unexpected(made.error());
    const Block& block = *made;
    if (runner.failure(0)) {
      return base::fail(base::ErrorCode::unavailable,
                        "the baseline failed in the play-off: " + runner.failure(0)->reason);
    }
    stats::PlayoffBlock values(arms.size());
    for (const int arm : active) {
      const auto place = static_cast<std::size_t>(arm);
      if (runner.failure(arm)) {
        report.arms[place].reason = runner.failure(arm)->reason;
        playoff.fail(arm);
        failed.push_back(arm);
      } else if (block.times_ns[place]) {
        times[place].add(*block.times_ns[0], *block.times_ns[place]);
        values[place] = stats::block_log_ratio(*block.times_ns[0], *block.times_ns[place], weights);
      }
    }
    playoff.add(values);
    report.samples.push_back(sample_of_all(block, std::exchange(failed, {})));
  }
  const std::vector<stats::PlayoffArm> results = playoff.arms();
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmScore& score = report.arms[i];
    score.measured = !results[i].failed && results[i].blocks > 0;
    score.dropped = results[i].dropped;
    score.score = to_model(stats::as_ratio(results[i].log_score));
    score.blocks = results[i].blocks;
    if (!score.measured && score.reason.empty()) score.reason = runner.ended();
    score.workloads = timings(measuring, workloads, times[i]);
  }
  report.blocks = playoff.blocks();
  report.separated = playoff.separated();
  return report;
}

}  // namespace

base::Result<PlayoffReport> run_playoff(Measuring& measuring, const std::vector<Arm>& arms, int places,
                                        const std::stop_token& stop) {
  if (arms.empty()) return base::fail(base::ErrorCode::invalid_argument, "a play-off needs at least the baseline");
  if (measuring.settings.protocol == model::Protocol::paper) return paper_playoff(measuring, arms, stop);
  stats::Playoff playoff(static_cast<int>(arms.size()), playoff_rules(measuring.settings, places, measuring.samples()));
  PlayoffReport report;
  report.arms.resize(arms.size());
  std::vector<const model::Kernel*> solutions;
  std::vector<int> unbuilt;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    solutions.push_back(&arms[i].kernel);
    TRY_ASSIGN(const model::BuildReport built, measuring.target.build(arms[i].kernel, stop));
    if (built.built) continue;
    if (i == 0)
      return base::fail(base::ErrorCode::invalid_argument, "the baseline does not build:\n" + built.diagnostics);
    report.arms[i].reason = built.diagnostics;
    playoff.fail(static_cast<int>(i));
    unbuilt.push_back(static_cast<int>(i));
  }
  const auto quiet = measuring.target.quiet();
  const std::vector<std::size_t> workloads = measuring.workloads(kRaced);
  BlockRunner runner(measuring.target, measuring.task, *measuring.slots,
                     {.arms = solutions,
                      .workloads = workloads,
                      .expected_ns = measuring.expected_ns(workloads),
                      .hard_limit = measuring.hard_limit(),
                      .seed = measuring.random()});
  return race_arms(measuring, arms, playoff, runner, std::move(report), unbuilt, stop);
}

namespace {

void conclude(const Measuring& measuring, const std::vector<std::size_t>& workloads,
              const stats::ConfirmationDecision& decision, const PairedTimes& times, model::Evaluation& evaluation) {
  evaluation.status = model::Status::passed;
  evaluation.ratio = to_model(stats::as_ratio(decision.log_ratio));
  evaluation.blocks = decision.blocks;
  evaluation.decided_by = decision.confirmed ? model::DecidedBy::race : model::DecidedBy::cap;
  evaluation.workloads = timings(measuring, workloads, times);
  for (std::size_t i = 0; i < evaluation.workloads.size() && i < decision.workloads.size(); ++i) {
    evaluation.workloads[i].ratio = to_model(stats::as_ratio(decision.workloads[i]));
  }
  const model::Interval& ratio = *evaluation.ratio;
  evaluation.verdict = verdict_of(decision);
  if (decision.regressed) {
    evaluation.reason = "not confirmed: workload " +
                        measuring.task.workloads[workloads[static_cast<std::size_t>(*decision.regressed)]].name +
                        " is certainly slower than allowed";
  } else if (!decision.confirmed) {
    evaluation.reason =
        "not confirmed: the low end of the speed-up's interval, " + std::to_string(ratio.low) + ", is not over 1.005";
  }
}

/// The candidate's two copies against the baseline, timed in one way: the second one's machine code lies elsewhere, so
/// that a gain which hangs on where code happens to lie is not reported.
struct RaceState {
  RaceState(Measuring& measuring, Slots& slots, const model::Kernel& candidate,
            const std::vector<std::size_t>& workloads, Timing timing)
      : runner(measuring.target, measuring.task, slots,
               {.arms = {&measuring.baseline, &candidate, &candidate},
                .placements = {Placement::usual, Placement::usual, Placement::shifted},
                .workloads = workloads,
                .expected_ns = measuring.expected_ns(workloads),
                .hard_limit = measuring.hard_limit(),
                .seed = measuring.random(),
                .most_drawing = kMostDrawing,
                .timing = timing}),
        timed(workloads),
        copies(weights_of(measuring, workloads),
               confirmation_rules(measuring.settings, measuring.samples(), model::kStatistics)),
        use(measuring.target.use()),
        most_blocks(measuring.settings.confirm_max_blocks) {}

  BlockRunner runner;
  std::vector<std::size_t> timed;  ///< workloads
  stats::TwinConfirmation copies;
  const DeviceUse& use;
  int most_blocks;
  std::array<PairedTimes, 2> times;
  std::vector<model::BlockSample> samples;

 private:
  /// Held-out workloads have none, and may be all that a race has.
  static std::vector<double> weights_of(const Measuring& measuring, const std::vector<std::size_t>& workloads) {
    std::vector<double> out = measuring.weights(workloads);
    if (std::ranges::all_of(out, [](double weight) { return weight == 0; })) std::ranges::fill(out, 1.0);
    return out;
  }
};

/// So many blocks in fresh processes. False: the evaluation is over, and says why.
base::Result<bool> run_restart(RaceState& race, int blocks, model::Evaluation& evaluation,
                               const std::stop_token& stop) {
  race.runner.restart();
  std::array<std::vector<std::vector<double>>, 2> restart;
  for (int i = 0; i < blocks; ++i) {
    const auto made = race.runner.next({0, 1, 2}, stop);
    if (!made && not_measured(race.runner, evaluation)) return false;
    if (!made && !race.runner.ended().empty()) break;
    if (!made) return tl::make_unexpected(made.error());
    const Block& block = *made;
    if (race.runner.failure(0)) {
      return base::fail(base::ErrorCode::unavailable,
                        "the baseline failed in the confirmation: " + race.runner.failure(0)->reason);
    }
    for (const int arm : {1, 2}) {
      if (!race.runner.failure(arm)) continue;
      set_failure(evaluation, *race.runner.failure(arm));
      return false;
    }
    const auto& reference = *block.times_ns[0];
    for (std::size_t copy = 0; copy < 2; ++copy) {
      race.times[copy].add(reference, *block.times_ns[copy + 1]);
      restart[copy].push_back(log_ratios(reference, *block.times_ns[copy + 1]));
    }
    race.samples.push_back(sample_of(block));
    const auto made_blocks = static_cast<int>(race.samples.size());
    race.use.progress({model::StepShare::Part::racing, made_blocks, std::max(made_blocks, race.most_blocks)});
  }
  race.copies.add_restart(restart);
  return true;
}

/// A workload in which a copy's calls alone take another time than several together do, by more than the baseline's own
/// two times differ; told in a line. Empty: there is none. `alone` has some of the workloads of `together`.
std::string contradiction(const Measuring& measuring, const RaceState& together, const RaceState& alone) {
  constexpr double kTickNs = 1000;  // of events, twice
  constexpr double kAlpha = 0.05;
  if (together.samples.empty() || alone.samples.empty()) return {};
  for (std::size_t copy = 0; copy < 2; ++copy) {
    for (std::size_t i = 0; i < alone.timed.size(); ++i) {
      const auto found = std::ranges::find(together.timed, alone.timed[i]);
      const auto among = static_cast<std::size_t>(found - together.timed.begin());
      // Logarithms of ratios to one time, which is what intervals are of.
      const double scale = together.times[copy].reference_ns[among].front();
      double allowed = std::log1p(kTickNs / scale);
      const auto told = [&](const std::vector<double>& times) {
        std::vector<double> logs;
        for (const double time : times) logs.push_back(std::log(time / scale));
        const stats::Interval interval = stats::trimmed_interval(logs, kAlpha);
        allowed += (interval.high - interval.low) / 2;
        return interval.estimate;
      };
      const double baseline_together = told(together.times[copy].reference_ns[among]);
      const double baseline_alone = told(alone.times[copy].reference_ns[i]);
      const double own_together = told(together.times[copy].candidate_ns[among]);
      const double own_alone = told(alone.times[copy].candidate_ns[i]);
      allowed += std::fabs(baseline_alone - baseline_together);
      if (std::fabs(own_alone - own_together) <= allowed) continue;
      const auto time = [&](double logarithm) { return base::duration_text(std::exp(logarithm) * scale); };
      return fmt::format(
          "workload {}: a call takes {} alone and {} among others (the baseline's {} and {}): calls made alone count",
          measuring.task.workloads[alone.timed[i]].name, time(own_alone), time(own_together), time(baseline_alone),
          time(baseline_together));
    }
  }
  return {};
}

/// Restarts with fresh processes until the rules are content. Of workloads of which the target times several short
/// calls together there is a second race of calls made alone. Where the two contradict each other, calls made alone
/// count, of all workloads. Where calls are timed one by one in any case, a second race would measure the same again.
base::Result<void> race_baseline(Measuring& measuring, Slots& slots, const model::Kernel& candidate,
                                 model::Evaluation& evaluation, const std::stop_token& stop) {
  const StageClock clock(measuring, evaluation, model::Stage::confirm);
  const std::vector<std::size_t> workloads = measuring.workloads(kTimed);
  RaceState together(measuring, slots, candidate, workloads, Timing::usual);
  std::vector<std::size_t> short_ones;
  std::ranges::copy_if(workloads, std::back_inserter(short_ones), [&](std::size_t workload) {
    return measuring.target.times_together(measuring.task.workloads[workload]);
  });
  std::optional<RaceState> alone;
  if (!short_ones.empty()) alone.emplace(measuring, slots, candidate, short_ones, Timing::alone);
  while (together.copies.next_restart_blocks() > 0 && together.runner.ended().empty()) {
    for (RaceState* const race : {&together, alone ? &*alone : nullptr}) {
      if (race == nullptr || !race->runner.ended().empty()) continue;
      const int own = race->copies.next_restart_blocks();  // a race that is decided does not go on
      if (own == 0) continue;
      TRY_ASSIGN(const bool goes_on, run_restart(*race, own, evaluation, stop));
      if (!goes_on) return {};
    }
  }
  const std::string differs = alone ? contradiction(measuring, together, *alone) : std::string();
  if (!differs.empty()) evaluation.notes.push_back(differs);
  if (!differs.empty() && short_ones.size() < workloads.size())
    alone.emplace(measuring, slots, candidate, workloads, Timing::alone);
  RaceState& counted = differs.empty() ? together : *alone;
  for (int blocks = counted.copies.next_restart_blocks(); blocks > 0 && counted.runner.ended().empty();
       blocks = counted.copies.next_restart_blocks()) {
    TRY_ASSIGN(const bool goes_on, run_restart(counted, blocks, evaluation, stop));
    if (!goes_on) return {};
  }
  evaluation.samples = std::move(counted.samples);
  if (evaluation.samples.empty()) {
    evaluation.status = model::Status::not_measured;
    evaluation.reason = counted.runner.ended();
    return {};
  }
  conclude(measuring, workloads, counted.copies.decision(), counted.times[counted.copies.worse()], evaluation);
  const std::string& ended = counted.runner.ended();
  if (!ended.empty() && evaluation.verdict != model::Verdict::faster) evaluation.reason = ended;
  evaluation.environment.noisy = counted.runner.noisy();
  if (evaluation.reason.empty()) evaluation.reason = counted.runner.disturbance();
  return {};
}

/// What hardware counters say of a call beside the race's time, as a note: they are not everywhere, and flush caches
/// before every kernel, so they judge nothing.
base::Result<void> ask_witness(Measuring& measuring, Slots& slots, const model::Kernel& candidate,
                               model::Evaluation& evaluation, const std::stop_token& stop) {
  if (measuring.target.times_without_calls()) return {};
  constexpr double kFarMore = 1.5;  // honest kernels have 0.66 to 1.01
  const StageClock clock(measuring, evaluation, model::Stage::profile);
  const auto raced =
      std::max_element(evaluation.workloads.begin(), evaluation.workloads.end(), [](const auto& a, const auto& b) {
        return (a.role == model::Role::race ? a.time_ns : -1) < (b.role == model::Role::race ? b.time_ns : -1);
      });
  if (raced == evaluation.workloads.end()) return {};
  for (const std::size_t workload : measuring.workloads(kTimed)) {
    if (measuring.task.workloads[workload].name != raced->name) continue;
    TRY_ASSIGN(Slot * slot, slots.get(workload, 0));
    TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
    const auto counts = measuring.target.hardware_counts(candidate, slot->invocation, measuring.task.cpu.cache, stop);
    if (!counts && counts.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(counts.error());
    if (!counts) {
      evaluation.notes.push_back("hardware counters could not be read: " + counts.error().message);
      return {};
    }
    double counted_us = 0;
    for (const model::ProfileItem& item : counts->items) {
      if (item.name.ends_with(kCountedTime)) counted_us += item.value;
    }
    const double raced_us = raced->time_ns / 1e3;
    if (counted_us <= 0) continue;
    evaluation.notes.push_back(fmt::format(
        "workload {}: hardware counters saw kernels at work for {:.1f} us, the race {:.1f} us{}", raced->name,
        counted_us, raced_us, counted_us > kFarMore * raced_us ? ": far more than was raced; look at the kernel" : ""));
  }
  return {};
}

}  // namespace

base::Result<model::Evaluation> run_confirmation(Measuring& measuring, const model::Kernel& candidate,
                                                 const std::stop_token& stop) {
  model::Evaluation evaluation = blank_evaluation(measuring, candidate, model::EvaluationKind::confirm);
  evaluation.opponent = measuring.baseline.id();
  evaluation.statistics = model::kStatistics;
  TRY_ASSIGN(const bool built, build_stage(measuring, candidate, evaluation, stop));
  if (!built) return evaluation;
  TRY(measuring.target.build(measuring.baseline, stop));
  TRY(measuring.target.start(candidate, Placement::shifted, stop));  // builds the copy while compilers may run
  const auto quiet = measuring.target.quiet();
  const std::uint64_t seed =
      base::derive_seed(measuring.settings.seed, "confirmation " + std::to_string(measuring.confirmations++));
  Slots fresh(measuring.target, measuring.task, seed, measuring.settings.slots);
  {
    const StageClock clock(measuring, evaluation, model::Stage::verify);
    TRY_ASSIGN(const auto failure,
               verify(measuring, fresh, candidate, {measuring.workloads(kEverything), 0, nullptr}, stop));
    if (failure) {
      set_failure(evaluation, *failure);
      return evaluation;
    }
  }
  TRY_ASSIGN(const auto finding, inspect_calls(measuring, fresh, candidate, evaluation, stop));
  if (finding) {
    set_failure(evaluation, *finding);
    return evaluation;
  }
  TRY(race_baseline(measuring, fresh, candidate, evaluation, stop));
  if (evaluation.status == model::Status::passed) TRY(ask_witness(measuring, fresh, candidate, evaluation, stop));
  if (evaluation.status == model::Status::passed) TRY(reject_incredible(measuring, evaluation, stop));
  return evaluation;
}

}  // namespace accelopt::evaluation
