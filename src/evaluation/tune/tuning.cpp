// SPDX-License-Identifier: Apache-2.0
#include "evaluation/tune/tuning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "base/hash.hpp"
#include "evaluation/build_ahead.hpp"
#include "evaluation/tune/tuning_plan.hpp"
#include "stats/halving.hpp"

namespace accelopt::evaluation {
namespace {

using Clock = std::chrono::steady_clock;
using stats::RungFate;

constexpr std::size_t kMostReasonBytes = 600;  ///< of one configuration's failure, in the record
constexpr double kAlpha = 0.05;                ///< of the intervals in the record
/// Where even the leader takes so much longer than the baseline, the kernel loses whichever of the best is chosen.
constexpr double kFarBehind = 0.25;
const double kFarBehindLog = -std::log1p(kFarBehind);

std::string cut(std::string text) {
  if (text.size() > kMostReasonBytes) text = text.substr(0, kMostReasonBytes) + " ...";
  return text;
}

Failure not_compiled(const model::BuildReport& report) {
  return {model::Status::compile_error, report.diagnostics, std::nullopt};
}

Failure none_compiles(std::size_t count, const std::string& first, const std::string& diagnostics,
                      const CompileBudget& budget) {
  return {model::Status::compile_error,
          "none of the first " + std::to_string(count) + " configurations compiles; with " + first + ":\n" +
              diagnostics + (budget.spent() ? "\n" + budget.text() : ""),
          std::nullopt};
}

/// One configuration in the race.
struct Entrant {
  std::size_t configuration = 0;  ///< in the space
  model::Kernel kernel;
  std::size_t build = 0;  ///< its number at the builder
  std::optional<Failure> failure;
  std::vector<std::vector<double>> samples;  ///< by rung: log-ratio to the first reference, by block
  RungFate fate = RungFate::stays;
};

class Tuner {
 public:
  Tuner(Measuring& measuring, const model::Kernel& open, const model::TuningSpace& space,
        std::shared_ptr<CompileBudget> budget, std::stop_token stop)
      : measuring_(measuring),
        open_(open),
        space_(space),
        stop_(std::move(stop)),
        points_(grid_of(space)),
        workloads_(measuring.workloads(kRaced)),
        weights_(measuring.weights(workloads_)),
        expected_ns_(measuring.expected_ns(workloads_)),
        budget_(std::move(budget)),
        builds_(measuring.target, budget_, stop_) {}

  /// Tries, and ranks what passed.
  base::Result<void> run() {
    if (points_.size() == 1) {
      enter({0});
      return {};
    }
    TRY(explore());
    if (rungs() == 1) return {};
    TRY_ASSIGN(const bool loses, far_behind());
    if (loses) return {};
    for (int rung = 1; rung < rungs() && !out_of_time(); ++rung) {
      const std::vector<int> left = racing();
      if (left.size() < 2) break;
      TRY(race_rung(rung, left));
      judge(rung);
    }
    return {};
  }

  /// Entrants that did not fail, the best first.
  [[nodiscard]] std::vector<int> ranking() const {
    std::vector<int> ranked;
    for (int i = 0; i < count(); ++i) {
      if (!entrant(i).failure) ranked.push_back(i);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [&](int a, int b) {
      const auto key = [&](int i) {
        const RungFate fate = entrant(i).fate;
        const bool in = fate == RungFate::leads || fate == RungFate::stays;
        return std::tuple(fate == RungFate::leads, in, entrant(i).samples.size(), latest(i));
      };
      return key(a) > key(b);
    });
    return ranked;
  }

  /// Since it began, builds and races.
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(now() - began_).count(); }
  /// Why no block could be measured, once `run` has failed for it.
  [[nodiscard]] const std::string& unmeasured() const { return unmeasured_; }
  /// Over half of the calls of some heat were disturbed.
  [[nodiscard]] bool noisy() const { return noisy_; }
  [[nodiscard]] const model::Kernel& solution(int i) const { return entrant(i).kernel; }
  [[nodiscard]] std::string values_text(int i) const {
    return model::configuration_text(space_.names, space_.configurations[entrant(i).configuration]);
  }
  /// It passed the race and nothing after.
  void fail(int i, Failure failure) { entrants_[static_cast<std::size_t>(i)].failure = std::move(failure); }

  /// Why nothing is left: the failure of the first configuration that was tried.
  [[nodiscard]] Failure failure() const {
    if (nothing_compiles_) return *nothing_compiles_;
    Failure first = entrant(0).failure.value_or(Failure{});
    first.reason = (count() == 1 ? "the one configuration, "
                                 : "all " + std::to_string(count()) + " configurations that were tried failed; with ") +
                   values_text(0) + ":\n" + first.reason;
    return first;
  }

  [[nodiscard]] model::Tuning record(std::optional<int> chosen) const {
    model::Tuning out;
    out.source_id = open_.id();
    out.names = space_.names;
    out.sets = space_.sets;
    out.combinations = space_.combinations;
    out.configurations = static_cast<std::int64_t>(space_.configurations.size());
    if (chosen) out.chosen = space_.configurations[entrant(*chosen).configuration];
    for (int i = 0; i < count(); ++i) out.field.push_back(record_of(i, chosen));
    out.heats = heats_;
    out.seconds = seconds();
    return out;
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(entrants_.size()); }
  [[nodiscard]] const Entrant& entrant(int i) const { return entrants_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int rungs() const { return static_cast<int>(halving_.rung_blocks.size()); }
  [[nodiscard]] bool out_of_time() const {
    const double limit = measuring_.settings.max_tuning_seconds;
    return raced_seconds_ > limit || seconds() > rules_.wall_factor * limit;
  }

  /// The middle of the last rung that it ran in; lowest without one.
  [[nodiscard]] double latest(int i) const {
    if (entrant(i).samples.empty() || entrant(i).samples.back().empty())
      return -std::numeric_limits<double>::infinity();
    return stats::robust_centre(entrant(i).samples.back());
  }

  [[nodiscard]] std::vector<int> racing() const {
    std::vector<int> left;
    for (int i = 0; i < count(); ++i) {
      const Entrant& one = entrant(i);
      if (!one.failure && (one.fate == RungFate::leads || one.fate == RungFate::stays)) left.push_back(i);
    }
    return left;
  }

  /// The fastest so far that still works; none before anything ran.
  [[nodiscard]] std::optional<int> leader() const {
    std::optional<int> best;
    for (int i = 0; i < count(); ++i) {
      const RungFate fate = entrant(i).fate;
      if (entrant(i).failure || entrant(i).samples.empty() || (fate != RungFate::leads && fate != RungFate::stays))
        continue;
      // Only within a rung are all told against the same reference.
      const auto key = [&](int one) { return std::pair(entrant(one).samples.size(), latest(one)); };
      if (!best || key(i) > key(*best)) best = i;
    }
    return best;
  }

  [[nodiscard]] bool knows_baseline() const {
    return std::ranges::all_of(baseline_ns_, [](double time) { return time > 0; });
  }
  /// After the first rung, in which all are told against the first arm of its first heat.
  base::Result<bool> far_behind() {
    const std::optional<int> best = leader();
    if (!best || !knows_baseline()) return false;
    const double log_ratio = stats::block_log_ratio(baseline_ns_, first_ns_, weights_) + latest(*best);
    if (log_ratio >= kFarBehindLog) return false;
    return loses_to_baseline(entrant(*best).kernel);
  }
  /// Whether all there is runs in this block, and loses: more of them would only tell by how much, which the race with
  /// the opponent tells.
  base::Result<bool> all_far_behind(const Block& block, const std::vector<int>& active,
                                    const std::vector<const model::Kernel*>& kernels) {
    const auto right = std::ranges::count_if(entrants_, [](const Entrant& one) { return !one.failure; });
    if (entrants_.size() != points_.size() || right != std::ssize(active) || !knows_baseline()) return false;
    const auto log_ratio = [&](int arm) {
      return stats::block_log_ratio(baseline_ns_, *block.times_ns[static_cast<std::size_t>(arm)], weights_);
    };
    const int best = *std::ranges::max_element(active, {}, log_ratio);
    if (log_ratio(best) >= kFarBehindLog) return false;
    return loses_to_baseline(*kernels[static_cast<std::size_t>(best)]);
  }
  /// The baseline's times are of when the task was opened, and the machine may have become slower: the two run side by
  /// side once before a race is given up.
  base::Result<bool> loses_to_baseline(const model::Kernel& kernel) {
    BlockRunner runner(measuring_.target, measuring_.task, *measuring_.slots,
                       {.arms = {&kernel, &measuring_.baseline},
                        .workloads = workloads_,
                        .expected_ns = expected_ns_,
                        .hard_limit = measuring_.hard_limit(),
                        .seed = measuring_.random()});
    const auto block = runner.next({0, 1}, stop_);
    if (!block && block.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(block.error());
    if (!block || block->disturbed || runner.noisy() || !block->times_ns[0] || !block->times_ns[1]) return false;
    return stats::block_log_ratio(*block->times_ns[1], *block->times_ns[0], weights_) < kFarBehindLog;
  }

  std::vector<int> enter(const std::vector<std::size_t>& configurations) {
    std::vector<int> numbers;
    for (const std::size_t configuration : configurations) {
      Entrant fresh;
      fresh.configuration = configuration;
      fresh.kernel = *open_.with_values(space_.configurations[configuration]);
      fresh.build = builds_.add(fresh.kernel);
      numbers.push_back(count());
      entrants_.push_back(std::move(fresh));
    }
    return numbers;
  }

  /// The first rung: waves of configurations, each where the ones before point to.
  base::Result<void> explore() {
    const Shares shares = shares_of(points_.size(), rules_);
    std::vector<std::size_t> wave = first_wave(open_, points_, rules_);
    int idle = 0;
    while (!wave.empty()) {
      const bool first = entrants_.empty();
      const std::optional<int> before = leader();
      const double best = before ? latest(*before) : 0;
      std::vector<int> fresh;
      if (first) {
        const auto probes = static_cast<std::ptrdiff_t>(std::min(rules_.probes, wave.size()));
        fresh = enter({wave.begin(), wave.begin() + probes});
        TRY_ASSIGN(const bool compiles, any_compiles());
        if (!compiles) return {};
        wave.erase(wave.begin(), wave.begin() + probes);
      }
      const std::vector<int> rest = enter(wave);
      fresh.insert(fresh.end(), rest.begin(), rest.end());
      TRY(race_rung(0, fresh));
      const std::optional<int> now = leader();
      if (!now || out_of_time()) break;
      if (!first) idle = latest(*now) - best > std::log1p(rules_.least_gain) ? 0 : idle + 1;
      if (idle == rules_.idle_waves || entrants_.size() >= shares.all) break;
      wave = stats::promising_points(points_, scores(), std::min(shares.wave, shares.all - entrants_.size()));
    }
    judge(0);
    return {};
  }

  /// Whether one of the first builds succeeds: a slip of the pen is not to be compiled a hundred times.
  base::Result<bool> any_compiles() {
    std::string first;
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      TRY_ASSIGN(const model::BuildReport report, builds_.wait(entrants_[i].build));
      if (report.built) return true;
      if (i == 0) first = report.diagnostics;
      entrants_[i].failure = not_compiled(report);
    }
    nothing_compiles_ = none_compiles(entrants_.size(), values_text(0), first, *budget_);
    return false;
  }

  [[nodiscard]] std::vector<std::optional<double>> scores() const {
    std::vector<std::optional<double>> out(points_.size());
    for (int i = 0; i < count(); ++i) {
      out[entrant(i).configuration] = entrant(i).failure ? std::numeric_limits<double>::quiet_NaN() : latest(i);
    }
    return out;
  }

  /// Runs the arms for the rung's blocks, a heat at a time, each beside the leader.
  base::Result<void> race_rung(int rung, const std::vector<int>& arms) {
    const std::optional<int> anchor = rung == 0 ? std::nullopt : leader();
    std::vector<int> rest = arms;
    if (anchor) std::erase(rest, *anchor);
    for (std::size_t at = 0; at < rest.size(); at += rules_.heat) {
      if (out_of_time() && !heats_.empty()) break;
      std::vector<int> heat(rest.begin() + static_cast<std::ptrdiff_t>(at),
                            rest.begin() + static_cast<std::ptrdiff_t>(std::min(at + rules_.heat, rest.size())));
      TRY(wait_for_builds(heat));
      TRY(race_heat(rung, std::move(heat), rung == 0 ? leader() : anchor));
    }
    return {};
  }

  base::Result<void> wait_for_builds(std::vector<int>& heat) {
    for (const int i : heat) {
      TRY_ASSIGN(const model::BuildReport report, builds_.wait(entrant(i).build));
      if (!report.built) fail(i, not_compiled(report));
    }
    std::erase_if(heat, [&](int i) { return entrant(i).failure.has_value(); });
    return {};
  }

  /// Once more without those that failed, where the failing one was what the others are compared with.
  base::Result<void> race_heat(int rung, std::vector<int> heat, std::optional<int> anchor) {
    while (!heat.empty()) {
      if (anchor && entrant(*anchor).failure) anchor = leader();
      std::vector<int> arms = heat;
      if (anchor) {
        std::erase(arms, *anchor);
        arms.insert(arms.begin(), *anchor);
      }
      if (arms.size() == 1 && anchor) return {};
      TRY_ASSIGN(const bool done, run_blocks(rung, arms));
      if (done) return {};
      std::erase_if(heat, [&](int i) { return entrant(i).failure.has_value(); });
    }
    return {};
  }

  /// The arms side by side; false: the first one failed, and nothing was kept.
  base::Result<bool> run_blocks(int rung, const std::vector<int>& arms) {
    const int blocks = halving_.rung_blocks[static_cast<std::size_t>(rung)];
    std::vector<const model::Kernel*> solutions;
    std::vector<int> active;
    for (const int i : arms) {
      active.push_back(static_cast<int>(solutions.size()));
      solutions.push_back(&entrant(i).kernel);
    }
    const auto began = now();
    const auto quiet = measuring_.target.quiet();
    BlockRunner runner(measuring_.target, measuring_.task, *measuring_.slots,
                       {.arms = solutions,
                        .workloads = workloads_,
                        .expected_ns = expected_ns_,
                        .hard_limit = measuring_.hard_limit(),
                        .seed = measuring_.random()});
    std::vector<std::vector<double>> log_ratios(arms.size());
    std::vector<std::vector<double>> leader_ns(workloads_.size());
    for (int block_number = 0; block_number < blocks; ++block_number) {
      const auto made = runner.next(active, stop_);
      if (!made && !runner.ended().empty()) break;
      if (!made) unmeasured_ = runner.unmeasured();
      if (!made) return tl::make_unexpected(made.error());
      const Block& block = *made;
      for (const int arm : active) {
        if (runner.failure(arm)) fail(arms[static_cast<std::size_t>(arm)], *runner.failure(arm));
      }
      std::erase_if(active, [&](int arm) { return runner.failure(arm).has_value(); });
      if (runner.failure(0)) return false;
      const std::vector<double>& first = *block.times_ns[0];
      for (std::size_t workload = 0; workload < first.size(); ++workload)
        leader_ns[workload].push_back(first[workload]);
      for (const int arm : active) {
        const auto place = static_cast<std::size_t>(arm);
        log_ratios[place].push_back(stats::block_log_ratio(first, *block.times_ns[place], weights_));
      }
      if (rung > 0 || block_number > 0 || blocks == 1 || block.disturbed || runner.noisy()) continue;
      TRY_ASSIGN(const bool all_lose, all_far_behind(block, active, solutions));
      if (all_lose) break;
    }
    for (std::size_t workload = 0; workload < workloads_.size(); ++workload) {
      if (!leader_ns[workload].empty()) expected_ns_[workload] = stats::median(leader_ns[workload]);
    }
    if (heats_.empty()) first_ns_ = expected_ns_;
    noisy_ = noisy_ || runner.noisy();
    raced_seconds_ += std::chrono::duration<double>(now() - began).count();
    keep(rung, arms, std::move(log_ratios));
    return true;
  }

  void keep(int rung, const std::vector<int>& arms, std::vector<std::vector<double>> log_ratios) {
    const auto place = static_cast<std::size_t>(rung);
    const Entrant& first = entrant(arms.front());
    // Within a rung all are told against one reference: a leader of another heat brings what it is against that.
    const bool known = first.samples.size() > place;
    const double offset = known ? stats::robust_centre(first.samples[place]) : 0;
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      Entrant& one = entrants_[static_cast<std::size_t>(arms[arm])];
      if (one.failure || (arm == 0 && known)) continue;
      one.samples.resize(place + 1);
      one.samples[place] = log_ratios[arm];
      for (double& sample : one.samples[place]) sample += offset;
    }
    heats_.push_back({rung, arms, offset, std::move(log_ratios)});
  }

  void judge(int rung) {
    const auto place = static_cast<std::size_t>(rung);
    std::vector<std::vector<double>> samples(entrants_.size());
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      if (!entrants_[i].failure && entrants_[i].samples.size() == place + 1) samples[i] = entrants_[i].samples[place];
    }
    const auto standings = stats::judge_rung(samples, halving_);
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      const bool ran = standings[i].fate != RungFate::absent;
      // Who raced on in this rung and could not (the time was up) stays what it was.
      if (ran) entrants_[i].fate = standings[i].fate;
      if (!ran && entrants_[i].samples.empty()) entrants_[i].fate = RungFate::absent;
    }
  }

  [[nodiscard]] model::TunedConfiguration record_of(int i, std::optional<int> chosen) const {
    const Entrant& one = entrant(i);
    model::TunedConfiguration out;
    out.values = space_.configurations[one.configuration];
    for (const auto& rung : one.samples) out.blocks += static_cast<int>(rung.size());
    if (one.failure) {
      out.fate = model::TunedFate::failed;
      out.status = one.failure->status;
      out.reason = cut(one.failure->reason);
      return out;
    }
    const bool to_the_end = static_cast<int>(one.samples.size()) == rungs();
    out.fate = i == chosen                                     ? model::TunedFate::chosen
               : one.fate == RungFate::slower                  ? model::TunedFate::slower
               : one.fate == RungFate::level                   ? model::TunedFate::level
               : one.fate == RungFate::outranked || to_the_end ? model::TunedFate::outranked
                                                               : model::TunedFate::unfinished;
    if (!chosen || one.samples.empty()) return out;
    const std::size_t rung = one.samples.size() - 1;
    const auto& theirs = entrant(*chosen).samples;
    if (theirs.size() <= rung || theirs[rung].empty() || one.samples[rung].empty()) return out;
    out.ratio = i == chosen ? model::Interval{1, 1, 1}
                            : to_model(stats::as_ratio(
                                  stats::compare_samples(one.samples[rung], theirs[rung], kAlpha, halving_.samples)));
    return out;
  }

  Measuring& measuring_;
  const model::Kernel& open_;
  const model::TuningSpace& space_;
  /// A clock that stands still while the device is waited for.
  [[nodiscard]] Clock::time_point now() const { return Clock::now() - measuring_.target.use().waited; }

  std::stop_token stop_;
  TuningRules rules_;
  stats::HalvingRules halving_ = stats::halving_rules(measuring_.samples());
  std::vector<stats::GridPoint> points_;
  std::vector<std::size_t> workloads_;
  std::vector<double> weights_;
  std::vector<double> expected_ns_;                 ///< the leader's time: what is five times slower need not end
  std::vector<double> baseline_ns_ = expected_ns_;  ///< when the task was opened; 0: unknown
  std::vector<double> first_ns_;                    ///< of the first arm of the first heat
  std::deque<Entrant> entrants_;                    ///< their solutions stay where they are
  std::vector<model::TuningHeat> heats_;
  std::optional<Failure> nothing_compiles_;
  double raced_seconds_ = 0;
  bool noisy_ = false;
  std::string unmeasured_;
  Clock::time_point began_ = now();
  std::shared_ptr<CompileBudget> budget_;
  BuildAhead builds_;
};

}  // namespace

base::Result<model::TuningSpace> open_space(const Measuring& measuring, const model::Kernel& kernel,
                                            const std::stop_token& stop) {
  const auto directed = kernel.space(measuring.task.definition);
  if (!directed) return model::TuningSpace{};
  if (!directed->names.empty()) return *directed;
  return measuring.target.found_space(kernel, stop);
}

base::Result<model::BuildReport> build_candidate(const Measuring& measuring, const model::Kernel& kernel,
                                                 const std::stop_token& stop) {
  TRY_ASSIGN(const model::TuningSpace space, open_space(measuring, kernel, stop));
  if (!space.open()) return measuring.target.build(kernel, stop);
  const auto began = Clock::now();
  const TuningRules rules;
  const std::vector<stats::GridPoint> points = grid_of(space);
  const std::vector<std::size_t> wave = first_wave(kernel, points, rules);
  model::BuildReport out;
  const auto budget = measuring.compile_budgets->of(kernel, rules.compile_seconds);
  BuildAhead builds(measuring.target, budget, stop);
  const std::size_t probes = std::min(rules.probes, wave.size());
  std::size_t added = 0;
  const auto add_up_to = [&](std::size_t count) {
    for (; added < count; ++added) builds.add(*kernel.with_values(space.configurations[wave[added]]));
  };
  add_up_to(probes);
  std::string first;
  for (std::size_t i = 0; i < wave.size(); ++i) {
    TRY_ASSIGN(const model::BuildReport report, builds.wait(i));
    out.seconds += report.seconds;
    out.built = out.built || report.built;
    if (i == 0) first = report.diagnostics;
    if (out.built) add_up_to(wave.size());
    if (out.built && std::chrono::duration<double>(Clock::now() - began).count() > rules.build_seconds) break;
    if (out.built || i + 1 < probes) continue;
    out.diagnostics = none_compiles(probes, model::configuration_text(space.names, space.configurations[wave.front()]),
                                    first, *budget)
                          .reason;
    return out;
  }
  // There is no machine code yet: what stands for it is as the source is.
  out.build_id = base::sha256_hex("open build " + kernel.id());
  out.machine_code_id = base::sha256_hex("open " + kernel.id());
  return out;
}

base::Result<model::Evaluation> run_tuned_triage(Measuring& measuring, const model::Kernel& candidate,
                                                 const model::TuningSpace& space, const model::Kernel& opponent,
                                                 const std::stop_token& stop) {
  Tuner tuner(measuring, candidate, space, measuring.compile_budgets->of(candidate, TuningRules{}.compile_seconds),
              stop);
  const auto raced = tuner.run();
  if (!raced && tuner.unmeasured().empty()) return tl::make_unexpected(raced.error());
  const double seconds = tuner.seconds();
  if (!raced) {
    model::Evaluation evaluation = blank_evaluation(measuring, candidate, model::EvaluationKind::triage);
    evaluation.opponent = opponent.id();
    set_failure(evaluation, {model::Status::not_measured, tuner.unmeasured(), std::nullopt});
    evaluation.stages.push_back({model::Stage::tune, seconds});
    return evaluation;
  }
  std::vector<int> ranking = tuner.ranking();
  ranking.resize(std::min(ranking.size(), TuningRules{}.verify_tries));
  std::optional<model::Evaluation> failed;
  for (const int entrant : ranking) {
    TRY_ASSIGN(model::Evaluation evaluation, run_triage(measuring, tuner.solution(entrant), opponent, stop));
    const bool ours = evaluation.status != model::Status::passed && evaluation.status != model::Status::not_measured;
    if (!ours) {
      evaluation.tuning = tuner.record(entrant);
      evaluation.environment.noisy = evaluation.environment.noisy || tuner.noisy();
      evaluation.stages.insert(evaluation.stages.begin(), {model::Stage::tune, seconds});
      return evaluation;
    }
    tuner.fail(entrant, {evaluation.status, evaluation.reason, evaluation.mismatch});
    if (failed) continue;
    failed = std::move(evaluation);
    failed->reason = "with " + tuner.values_text(entrant) + ":\n" + failed->reason;
  }
  if (!failed) {
    failed = blank_evaluation(measuring, candidate, model::EvaluationKind::triage);
    failed->opponent = opponent.id();
    set_failure(*failed, tuner.failure());
  }
  failed->source_id = candidate.id();
  failed->tuning = tuner.record(std::nullopt);
  failed->stages.insert(failed->stages.begin(), {model::Stage::tune, seconds});
  return std::move(*failed);
}

}  // namespace accelopt::evaluation
