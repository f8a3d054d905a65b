// SPDX-License-Identifier: Apache-2.0
// Triage: the short race of a candidate against its own parent.
#include <fmt/format.h>

#include <array>

#include "evaluation/measuring.hpp"
#include "evaluation/race/recompute.hpp"
#include "evaluation/tune/tuning.hpp"
#include "stats/triage.hpp"

namespace accelopt::evaluation {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPromisingTimes = 2;  ///< the time of a race in which a gain shows, and is not certain yet
constexpr int kVerifiedSlots = 3;   ///< a workload, chosen anew each time; the race itself then verifies every call

model::DecidedBy named_as(stats::DecidedBy decided_by) {
  switch (decided_by) {
    case stats::DecidedBy::none:
      break;
    case stats::DecidedBy::race:
      return model::DecidedBy::race;
    case stats::DecidedBy::futility:
      return model::DecidedBy::futility;
    case stats::DecidedBy::cap:
      return model::DecidedBy::cap;
  }
  return model::DecidedBy::none;
}

struct RaceData {
  std::vector<std::vector<double>> reference_ns;  ///< by workload, by block
  std::vector<std::vector<double>> candidate_ns;
};

void keep(RaceData& data, const Block& block, model::Evaluation& evaluation) {
  const auto& reference = *block.times_ns[0];
  const auto& candidate = *block.times_ns[1];
  data.reference_ns.resize(reference.size());
  data.candidate_ns.resize(candidate.size());
  for (std::size_t i = 0; i < reference.size(); ++i) {
    data.reference_ns[i].push_back(reference[i]);
    data.candidate_ns[i].push_back(candidate[i]);
  }
  evaluation.samples.push_back(sample_of(block));
}

/// Blocks until the race decides or its time is up.
base::Result<void> race(Measuring& measuring, BlockRunner& runner, const std::vector<std::size_t>& workloads,
                        model::Evaluation& evaluation, const std::stop_token& stop) {
  const StageClock clock(measuring, evaluation, model::Stage::triage);
  const std::vector<double> weights = measuring.weights(workloads);
  const auto begin = Clock::now();
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      measuring.settings.max_seconds_per_workload * static_cast<double>(workloads.size())));
  const stats::TriageRules rules = stats::triage_rules(measuring.samples());
  stats::Triage triage(rules);
  RaceData data;
  while (!triage.decided()) {
    const auto made = runner.next({0, 1}, stop);
    if (!made && not_measured(runner, evaluation)) return {};
    if (!made && !runner.ended().empty()) {
      evaluation.reason = runner.ended();
      if (triage.samples().empty()) {
        evaluation.status = model::Status::not_measured;
        return {};
      }
      triage.expire();
      break;
    }
    if (!made) return tl::make_unexpected(made.error());
    const Block& block = *made;
    if (runner.failure(1)) {
      set_failure(evaluation, *runner.failure(1));
      return {};
    }
    if (runner.failure(0)) {
      evaluation.status = model::Status::not_measured;
      evaluation.reason = "its opponent failed in the race: " + runner.failure(0)->reason;
      return {};
    }
    keep(data, block, evaluation);
    measuring.target.use().progress(
        {model::StepShare::Part::racing, static_cast<int>(evaluation.samples.size()), rules.looks.back()});
    triage.add(stats::block_log_ratio(*block.times_ns[0], *block.times_ns[1], weights));
    const auto raced = Clock::now() - begin - runner.lost();
    if (raced > limit && (!triage.promising() || raced > kPromisingTimes * limit)) triage.expire();
  }
  const stats::TriageDecision& decision = triage.decision();
  evaluation.status = model::Status::passed;
  evaluation.verdict = verdict_of(decision.verdict);
  evaluation.decided_by = named_as(decision.decided_by);
  evaluation.ratio = to_model(stats::as_ratio(decision.log_ratio));
  evaluation.blocks = decision.blocks;
  for (std::size_t i = 0; i < data.candidate_ns.size(); ++i) {
    evaluation.workloads.push_back(
        workload_timing(measuring, workloads[i], data.reference_ns[i], data.candidate_ns[i]));
  }
  return {};
}

/// All workloads and slots, and no race. What passed says how near it came to its bound.
base::Result<model::Evaluation> verify_alone(Measuring& measuring, const model::Kernel& candidate,
                                             model::Evaluation evaluation, const std::stop_token& stop) {
  const auto quiet = measuring.target.quiet();
  Margin margin;
  std::optional<Failure> failure;
  {
    const StageClock clock(measuring, evaluation, model::Stage::verify);
    TRY_ASSIGN(failure, verify(measuring, *measuring.slots, candidate,
                               {measuring.workloads(kEverything), 0, nullptr, &margin}, stop));
  }
  evaluation.kind = model::EvaluationKind::verify;
  if (failure) {
    set_failure(evaluation, *failure);
    return evaluation;
  }
  evaluation.status = model::Status::passed;
  if (margin.share >= 0) {
    evaluation.reason =
        fmt::format("nearest to its bound in workload {}, family {}, output {}: normwise error {:.2g}, allowed {:.2g}",
                    margin.where.workload, margin.where.family, margin.where.output, margin.where.normwise_error,
                    margin.where.normwise_bound);
  }
  return evaluation;
}

}  // namespace

base::Result<model::Evaluation> run_triage(Measuring& measuring, const model::Kernel& candidate,
                                           const model::Kernel& opponent, const std::stop_token& stop) {
  TRY_ASSIGN(const model::TuningSpace space, open_space(measuring, candidate, stop));
  if (space.open() && measuring.target.builds_only().empty())
    return run_tuned_triage(measuring, candidate, space, opponent, stop);
  model::Evaluation evaluation = blank_evaluation(measuring, candidate, model::EvaluationKind::triage);
  evaluation.opponent = opponent.id();
  TRY_ASSIGN(const model::BuildReport report, measuring.target.build(candidate, stop));  // it was built before
  if (!take_build(report, evaluation) || !can_run(measuring, evaluation)) return evaluation;
  if (measuring.settings.protocol == model::Protocol::verify)
    return verify_alone(measuring, candidate, std::move(evaluation), stop);
  TRY_ASSIGN(const model::BuildReport opponent_report, measuring.target.build(opponent, stop));
  if (!opponent_report.built) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the opponent does not build:\n" + opponent_report.diagnostics);
  }
  const auto quiet = measuring.target.quiet();
  {
    const StageClock clock(measuring, evaluation, model::Stage::verify);
    TRY_ASSIGN(const auto failure, verify(measuring, *measuring.slots, candidate,
                                          {measuring.workloads(kVerified), kVerifiedSlots, nullptr}, stop));
    if (failure) {
      set_failure(evaluation, *failure);
      return evaluation;
    }
  }
  if (measuring.settings.protocol == model::Protocol::paper)
    return paper_triage(measuring, candidate, opponent, std::move(evaluation), stop);
  const std::vector<std::size_t> workloads = measuring.workloads(kRaced);
  BlockRunner runner(measuring.target, measuring.task, *measuring.slots,
                     {.arms = {&opponent, &candidate},
                      .workloads = workloads,
                      .expected_ns = measuring.expected_ns(workloads),
                      .hard_limit = measuring.hard_limit(),
                      .seed = measuring.random(),
                      .first_candidate = 1});
  TRY(race(measuring, runner, workloads, evaluation, stop));
  evaluation.environment.noisy = runner.noisy();
  if (evaluation.reason.empty()) evaluation.reason = runner.disturbance();
  if (evaluation.status == model::Status::passed) TRY(reject_incredible(measuring, evaluation, stop));
  return evaluation;
}

}  // namespace accelopt::evaluation
