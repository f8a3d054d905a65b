// SPDX-License-Identifier: Apache-2.0
#include "evaluation/race/recompute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "evaluation/bench.hpp"

namespace accelopt::evaluation {
namespace {

model::Interval plain(const stats::Interval& log_ratio) {
  const stats::Interval ratio = stats::as_ratio(log_ratio);
  return {ratio.estimate, ratio.low, ratio.high};
}

/// Of the workloads whose times are in a sample, in the task's order; those that are not raced weigh nothing.
std::vector<double> weights_of(const model::Task& task, bool with_held_out) {
  std::vector<double> out;
  for (const model::Workload& workload : task.workloads) {
    if (workload.role == model::Role::race) out.push_back(workload.weight);
    if (workload.role == model::Role::held_out && with_held_out) out.push_back(0);
  }
  return out;
}

/// One for each workload, and logarithms can be taken of them.
bool are_times(const std::vector<double>& times, std::size_t workloads) {
  return times.size() == workloads &&
         std::all_of(times.begin(), times.end(), [](double time) { return std::isfinite(time) && time > 0; });
}

bool fit(const std::vector<model::BlockSample>& samples, std::size_t workloads, bool twins) {
  return !samples.empty() && std::all_of(samples.begin(), samples.end(), [&](const model::BlockSample& sample) {
    return are_times(sample.reference_ns, workloads) && are_times(sample.candidate_ns, workloads) &&
           (!twins || are_times(sample.shifted_ns, workloads));
  });
}

bool is_known(int statistics) {
  return statistics >= 1 && statistics <= model::kStatistics;
}

stats::Samples samples_of(const model::Evaluation& evaluation) {
  return samples_by_clock(evaluation.environment.clock);
}

using SampleTimes = std::vector<double> model::BlockSample::*;

/// Of the workloads whose times are in a sample, in the task's order.
std::vector<model::WorkloadTiming> timings_of(const model::Task& task, const model::Evaluation& evaluation,
                                              bool with_held_out, SampleTimes candidate) {
  std::vector<model::WorkloadTiming> out;
  for (const model::Workload& workload : task.workloads) {
    const bool timed = workload.role == model::Role::race || (workload.role == model::Role::held_out && with_held_out);
    if (!timed) continue;
    std::vector<double> reference_ns;
    std::vector<double> candidate_ns;
    for (const model::BlockSample& sample : evaluation.samples) {
      reference_ns.push_back(sample.reference_ns[out.size()]);
      candidate_ns.push_back((sample.*candidate)[out.size()]);
    }
    out.push_back(timing_of(workload, reference_ns, candidate_ns, samples_of(evaluation)));
  }
  return out;
}

std::optional<Recomputed> triage_again(const model::Task& task, const model::Evaluation& evaluation) {
  const std::vector<double> weights = weights_of(task, false);
  if (!fit(evaluation.samples, weights.size(), false)) return std::nullopt;
  std::vector<double> blocks;
  for (const model::BlockSample& sample : evaluation.samples) {
    blocks.push_back(stats::block_log_ratio(sample.reference_ns, sample.candidate_ns, weights));
  }
  // A race whose time was up looked once more at the end.
  const auto decision =
      stats::decide_triage(blocks, stats::triage_rules(samples_of(evaluation)), stats::Clock::expired);
  if (static_cast<std::size_t>(decision.blocks) != blocks.size()) return std::nullopt;  // none goes on after its end
  return Recomputed{verdict_of(decision.verdict), plain(decision.log_ratio), decision.blocks,
                    timings_of(task, evaluation, false, &model::BlockSample::candidate_ns)};
}

std::optional<Recomputed> confirm_again(const model::Task& task, const MeasureSettings& settings,
                                        const model::Evaluation& evaluation) {
  const std::vector<double> weights = weights_of(task, true);
  if (!fit(evaluation.samples, weights.size(), true) || !is_known(evaluation.statistics)) return std::nullopt;
  stats::TwinConfirmation copies(weights, confirmation_rules(settings, samples_of(evaluation), evaluation.statistics));
  std::size_t at = 0;
  for (int blocks = copies.next_restart_blocks(); blocks > 0 && at < evaluation.samples.size();
       blocks = copies.next_restart_blocks()) {
    std::array<std::vector<std::vector<double>>, 2> restart;
    for (int i = 0; i < blocks && at < evaluation.samples.size(); ++i, ++at) {
      const model::BlockSample& sample = evaluation.samples[at];
      restart[0].push_back(log_ratios(sample.reference_ns, sample.candidate_ns));
      restart[1].push_back(log_ratios(sample.reference_ns, sample.shifted_ns));
    }
    copies.add_restart(restart);
  }
  if (at < evaluation.samples.size()) return std::nullopt;  // none goes on after its end
  const stats::ConfirmationDecision& decision = copies.decision();
  const SampleTimes worse = copies.worse() == 0 ? &model::BlockSample::candidate_ns : &model::BlockSample::shifted_ns;
  Recomputed again{verdict_of(decision), plain(decision.log_ratio), decision.blocks,
                   timings_of(task, evaluation, true, worse)};
  for (std::size_t i = 0; i < again.workloads.size() && i < decision.workloads.size(); ++i)
    again.workloads[i].ratio = plain(decision.workloads[i]);
  return again;
}

}  // namespace

std::optional<Recomputed> recompute(const model::Task& task, const MeasureSettings& settings,
                                    const model::Evaluation& evaluation) {
  if (evaluation.status != model::Status::passed) return std::nullopt;
  // Confirmations are made in blocks under every protocol.
  if (evaluation.kind == model::EvaluationKind::triage && settings.protocol == model::Protocol::blocks)
    return triage_again(task, evaluation);
  if (evaluation.kind == model::EvaluationKind::confirm) return confirm_again(task, settings, evaluation);
  return std::nullopt;
}

namespace {

/// The blocks once more through the rules that they were made under. False: no race under these rules gives them.
bool race_again(const std::vector<PlayoffSample>& samples, const std::vector<double>& weights, std::size_t arms,
                stats::Playoff& playoff) {
  for (const PlayoffSample& sample : samples) {
    if (sample.times_ns.size() != arms || !are_times(sample.times_ns[0], weights.size())) return false;
    for (const int arm : sample.failed) {
      if (arm < 1 || static_cast<std::size_t>(arm) >= arms) return false;
      playoff.fail(arm);
    }
    std::set<std::size_t> running;
    for (const int arm : playoff.active()) running.insert(static_cast<std::size_t>(arm));
    stats::PlayoffBlock block(arms);
    for (std::size_t arm = 0; arm < arms; ++arm) {
      const std::vector<double>& times = sample.times_ns[arm];
      if (times.empty()) continue;
      if (!running.contains(arm) || !are_times(times, weights.size())) return false;
      block[arm] = stats::block_log_ratio(sample.times_ns[0], times, weights);
    }
    const int before = playoff.blocks();
    playoff.add(block);
    // A race that lost all its rivals in a block ends with it; none goes on after its end.
    const bool was_over = playoff.blocks() == before;
    if (was_over && (&sample != &samples.back() || sample.failed.empty())) return false;
  }
  return true;
}

}  // namespace

std::optional<PlayoffReport> recompute(const model::Task& task, const MeasureSettings& settings, int places,
                                       stats::Samples samples, const PlayoffReport& recorded) {
  const std::size_t arms = recorded.arms.size();
  if (recorded.samples.empty() || arms == 0 || places < 1 || settings.protocol != model::Protocol::blocks)
    return std::nullopt;
  const std::vector<double> weights = weights_of(task, false);
  stats::Playoff playoff(static_cast<int>(arms), playoff_rules(settings, places, samples));
  if (!race_again(recorded.samples, weights, arms, playoff)) return std::nullopt;
  PlayoffReport again;
  again.blocks = playoff.blocks();
  again.separated = playoff.separated();
  for (const stats::PlayoffArm& arm : playoff.arms()) {
    ArmScore score;
    score.measured = !arm.failed && arm.blocks > 0;
    score.dropped = arm.dropped;
    score.score = plain(arm.log_score);
    score.blocks = arm.blocks;
    const std::size_t place = again.arms.size();
    std::size_t raced = 0;
    for (const model::Workload& workload : task.workloads) {
      if (workload.role != model::Role::race) continue;
      std::vector<double> reference_ns;
      std::vector<double> candidate_ns;
      for (const PlayoffSample& sample : recorded.samples) {
        if (sample.times_ns[place].empty()) continue;
        reference_ns.push_back(sample.times_ns[0][raced]);
        candidate_ns.push_back(sample.times_ns[place][raced]);
      }
      ++raced;
      if (!candidate_ns.empty()) score.workloads.push_back(timing_of(workload, reference_ns, candidate_ns, samples));
    }
    again.arms.push_back(std::move(score));
  }
  return again;
}

stats::Samples samples_by_clock(std::string_view clock) {
  if (clock == model::kModelledClock) return stats::Samples::modelled;
  return clock == model::kDeterministicClock ? stats::Samples::exact : stats::Samples::noisy;
}

stats::PlayoffRules playoff_rules(const MeasureSettings& settings, int places, stats::Samples samples) {
  stats::PlayoffRules rules;
  rules.places = places;
  rules.min_blocks = settings.playoff_min_blocks;
  rules.max_blocks = settings.playoff_max_blocks;
  rules.samples = samples;
  if (const int blocks = stats::blocks_that_decide(samples); blocks > 0) rules.min_blocks = rules.max_blocks = blocks;
  return rules;
}

stats::ConfirmationRules confirmation_rules(const MeasureSettings& settings, stats::Samples samples, int statistics) {
  constexpr int kRestartsOfFirst = 3;
  stats::ConfirmationRules rules;
  rules.min_restarts = settings.confirm_restarts;
  if (statistics == 1) {
    rules.min_restarts = std::min(rules.min_restarts, kRestartsOfFirst);
    rules.spread = stats::Spread::blocks;
  }
  rules.min_blocks = settings.confirm_min_blocks;
  rules.max_blocks = settings.confirm_max_blocks;
  rules.half_width = settings.confirm_half_width;
  rules.allow_regression = settings.allow_regression;
  rules.samples = samples;
  if (const int blocks = stats::blocks_that_decide(samples); blocks > 0) {
    rules.min_restarts = 1;
    rules.min_blocks = rules.max_blocks = blocks;
  }
  if (samples == stats::Samples::modelled) rules.least_gain = stats::kLeastModelledGain;
  return rules;
}

model::WorkloadTiming timing_of(const model::Workload& workload, const std::vector<double>& reference_ns,
                                const std::vector<double>& candidate_ns, stats::Samples samples) {
  constexpr double kAlpha = 0.05;
  model::WorkloadTiming out;
  out.name = workload.name;
  out.role = workload.role;
  out.time_ns = stats::median(candidate_ns);
  if (reference_ns.empty()) return out;
  out.reference_ns = stats::median(reference_ns);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < candidate_ns.size(); ++i) ratios.push_back(std::log(reference_ns[i] / candidate_ns[i]));
  stats::Interval interval = stats::trimmed_interval(ratios, kAlpha);
  if (samples == stats::Samples::modelled) {  // one for each assumption: they are no sample of anything
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    interval.low = *low;
    interval.high = *high;
  }
  out.ratio = plain(interval);
  return out;
}

std::vector<double> log_ratios(const std::vector<double>& reference_ns, const std::vector<double>& candidate_ns) {
  std::vector<double> out;
  for (std::size_t i = 0; i < reference_ns.size(); ++i) {
    out.push_back(stats::block_log_ratio({&reference_ns[i], 1}, {&candidate_ns[i], 1}, std::vector<double>{1.0}));
  }
  return out;
}

model::Verdict verdict_of(stats::RaceVerdict verdict) {
  switch (verdict) {
    case stats::RaceVerdict::running:
      break;
    case stats::RaceVerdict::faster:
      return model::Verdict::faster;
    case stats::RaceVerdict::slower:
      return model::Verdict::slower;
    case stats::RaceVerdict::tie:
      return model::Verdict::tie;
    case stats::RaceVerdict::undecided:
      return model::Verdict::undecided;
  }
  return model::Verdict::none;
}

model::Verdict verdict_of(const stats::ConfirmationDecision& decision) {
  if (decision.confirmed) return model::Verdict::faster;
  if (decision.regressed) return model::Verdict::undecided;
  const stats::Interval& ratio = decision.log_ratio;
  return ratio.high < 0 ? model::Verdict::slower : ratio.low > 0 ? model::Verdict::undecided : model::Verdict::tie;
}

}  // namespace accelopt::evaluation
