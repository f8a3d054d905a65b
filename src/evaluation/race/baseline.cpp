// SPDX-License-Identifier: Apache-2.0
// The baseline's own evaluation, before anything is asked of anyone: it must pass everything.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "evaluation/measuring.hpp"
#include "model/target_description.hpp"

namespace accelopt::evaluation {
namespace {

/// Which of reference, baseline or bound is the likely mend of a wrong baseline.
std::string likely_mend(const Failure& failure) {
  constexpr const char* kNotTheSame = "; likely to mend: the reference or the baseline, which do not compute the same";
  if (!failure.mismatch && failure.status == model::Status::incorrect_numerical) return kNotTheSame;
  if (failure.status == model::Status::compile_error) return {};  // refused, by a reason of its own
  if (!failure.mismatch) {
    return failure.status == model::Status::timeout
               ? "; mend the baseline, or make the workload smaller"
               : "; mend the baseline: check its sizes and the order of its arguments against task.h";
  }
  const model::Mismatch& wrong = *failure.mismatch;
  if (!std::isfinite(wrong.actual) || !std::isfinite(wrong.expected)) {
    return wrong.family == "as_declared" ? "; likely to mend: the baseline (it leaves an element unwritten, or "
                                           "overflows where the reference does not)"
                                         : "; likely to mend: the family " + wrong.family +
                                               ", if the operator is not defined for it (families in the task)";
  }
  // Rounding alone stays within some dozens of the bound; another formula is far beyond.
  constexpr double kStillRounding = 100;
  constexpr double kOtherFormula = 1e-2;
  if (wrong.normwise_error < kStillRounding * wrong.normwise_bound && wrong.normwise_error < kOtherFormula) {
    return "; likely to mend: the bound (the baseline rounds more than the reference in float does: sum in another "
           "order, or state "
           "numerics.normwise)";
  }
  return kNotTheSame;
}

/// Verifies the baseline, again while others are on the device, for as long as the target has patience. `disturbance`:
/// who stayed; empty: the times are the baseline's own.
base::Result<std::optional<Failure>> verify_alone_on_device(Measuring& measuring, std::vector<double>& times,
                                                            std::string& disturbance, const std::stop_token& stop) {
  const auto deadline = std::chrono::steady_clock::now() + measuring.target.patience_with_neighbours();
  const bool counts = measuring.settings.protocol != model::Protocol::verify;
  for (;;) {
    disturbance.clear();
    TRY_ASSIGN(auto failure, verify(measuring, *measuring.slots, measuring.baseline,
                                    {.workloads = measuring.workloads(kEverything),
                                     .median_ns = &times,
                                     .disturbance = counts ? &disturbance : nullptr},
                                    stop));
    if (failure || disturbance.empty() || std::chrono::steady_clock::now() > deadline) return failure;
  }
}

/// What was found on this device before, in place of what would be found again. False: there is nothing, or it is of
/// other code, of another device or driver, or lacks a time.
bool take_over(Measuring& measuring, model::Evaluation& evaluation) {
  const auto& known = measuring.settings.known_baseline;
  if (!known || known->status != model::Status::passed || measuring.settings.protocol == model::Protocol::verify)
    return false;
  const model::Environment& here = evaluation.environment;
  const model::Environment& there = known->environment;
  if (evaluation.machine_code_id.empty() || known->machine_code_id != evaluation.machine_code_id ||
      known->source_id != evaluation.source_id || here.device != there.device || here.compiler != there.compiler ||
      here.flags != there.flags)
    return false;
  std::vector<double> times(measuring.task.workloads.size(), 0.0);
  for (const std::size_t workload : measuring.workloads(kEverything)) {
    const auto timed = std::find_if(known->workloads.begin(), known->workloads.end(), [&](const auto& timing) {
      return timing.name == measuring.task.workloads[workload].name;
    });
    constexpr double kMostNs = 1e15;  // days: nobody waited for that
    if (timed == known->workloads.end() || !(timed->time_ns > 0 && timed->time_ns < kMostNs)) return false;
    times[workload] = timed->time_ns;
  }
  measuring.baseline_ns = std::move(times);
  const auto stages = std::move(evaluation.stages);
  evaluation = *known;
  evaluation.stages = stages;
  return true;
}

}  // namespace

base::Result<model::Evaluation> evaluate_baseline(Measuring& measuring, const std::stop_token& stop) {
  const model::Kernel& baseline = measuring.baseline;
  model::Evaluation evaluation = blank_evaluation(measuring, baseline, model::EvaluationKind::baseline);
  measuring.baseline_ns.assign(measuring.task.workloads.size(), 0.0);
  TRY_ASSIGN(const bool built, build_stage(measuring, baseline, evaluation, stop));
  if (!built || !can_run(measuring, evaluation)) return evaluation;
  if (take_over(measuring, evaluation)) return evaluation;
  std::vector<double> times(measuring.task.workloads.size(), 0.0);
  {
    const auto quiet = measuring.target.quiet();
    const StageClock clock(measuring, evaluation, model::Stage::verify);
    std::string disturbance;
    TRY_ASSIGN(const auto failure, verify_alone_on_device(measuring, times, disturbance, stop));
    if (failure) {
      set_failure(evaluation, *failure);
      evaluation.reason += likely_mend(*failure);
      return evaluation;
    }
    if (!disturbance.empty()) {
      evaluation.status = model::Status::not_measured;
      evaluation.reason = disturbance + ", and times taken then do not count";
      return evaluation;
    }
  }
  measuring.baseline_ns = times;
  evaluation.status = model::Status::passed;
  if (measuring.settings.protocol == model::Protocol::verify) return evaluation;
  for (const std::size_t workload : measuring.workloads(kEverything)) {
    evaluation.workloads.push_back(workload_timing(measuring, workload, {}, {times[workload]}));
  }
  TRY_ASSIGN(const std::string incredible, find_incredible(measuring, evaluation, stop));
  if (!incredible.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the baseline on " + incredible +
                          "; the task's [cost] states more work than is needed: state less in its bytes and flops");
  }
  if (model::target_of(measuring.task).profiles_on_demand) return evaluation;
  TRY_ASSIGN(evaluation.profile, run_profile(measuring, baseline, stop));
  model::take_failure(evaluation);
  return evaluation;
}

}  // namespace accelopt::evaluation
