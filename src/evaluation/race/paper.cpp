// SPDX-License-Identifier: Apache-2.0
// The published measuring protocol, kept as a control: means of ten calls against the recorded latency of the parent.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "evaluation/measuring.hpp"

namespace accelopt::evaluation {
namespace {

constexpr int kWarmUps = 2;
constexpr int kPaperCalls = 10;
constexpr int kMostRepeatsOfPaper = 3;
constexpr double kCalm = 0.01;  ///< (max - min) / min

struct Series {
  double mean_ns = 0;
  double spread = 0;
};

/// Two warm-ups and ten calls on slots that the kernel has not met.
base::Result<std::optional<Failure>> run_series(Measuring& measuring, const model::Kernel& kernel, std::size_t workload,
                                                Series& series, const std::stop_token& stop) {
  std::vector<double> times;
  std::unique_ptr<LiveKernel> live;
  const int slots = measuring.slots->count();
  const std::string& source_id = kernel.id();
  const int first = measuring.slots->unmet(source_id, workload);
  measuring.slots->meet(source_id, workload, first + kWarmUps + kPaperCalls);
  for (int call = 0; call < kWarmUps + kPaperCalls; ++call) {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "measuring was stopped as asked");
    if (call % slots == 0) {
      TRY_ASSIGN(live, measuring.target.start(kernel, Placement::usual, stop));
    }
    TRY_ASSIGN(Slot * slot, measuring.slots->get(workload, first + call));
    const auto limit = call_limit(measuring.expected_ns({workload}).front(), measuring.hard_limit());
    TRY_ASSIGN(const CallOutcome outcome,
               live->call(slot->invocation, {limit, measuring.task.cpu.cache, measuring.random()}));
    if (auto failure = judge(measuring.task, measuring.task.workloads[workload], *slot, outcome)) return failure;
    if (outcome.fault > TimeFault::slow_clock) {  // the protocol knows no repetitions of single calls
      const std::string what = outcome.fault == TimeFault::neighbour ? outcome.disturbance : kClocksDiffer;
      return Failure{model::Status::not_measured, what + ", and times taken then do not count", std::nullopt};
    }
    if (call >= kWarmUps) times.push_back(outcome.time_ns);
  }
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  series = {std::accumulate(times.begin(), times.end(), 0.0) / kPaperCalls, (*most - *least) / *least};
  return std::optional<Failure>();
}

/// Ratio of the weighted geometric means; without an interval, as the protocol has none.
model::Interval ratio_of(const std::vector<double>& reference, const std::vector<double>& own,
                         const std::vector<double>& weights) {
  const double ratio = std::exp(stats::block_log_ratio(reference, own, weights));
  return {ratio, ratio, ratio};
}

std::vector<model::WorkloadTiming> timings(const Measuring& measuring, const std::vector<double>& reference,
                                           const std::vector<double>& own) {
  const std::vector<std::size_t> workloads = measuring.workloads(kRaced);
  std::vector<model::WorkloadTiming> out;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    out.push_back(workload_timing(measuring, workloads[i], {reference[i]}, {own[i]}));
    const double ratio = reference[i] / own[i];
    out.back().ratio = model::Interval{ratio, ratio, ratio};
  }
  return out;
}

}  // namespace

base::Result<PaperLatency> paper_latency(Measuring& measuring, const model::Kernel& kernel,
                                         const std::stop_token& stop) {
  PaperLatency out;
  const std::string& id = kernel.id();
  if (const auto known = measuring.recorded_ns.find(id); known != measuring.recorded_ns.end()) {
    out.mean_ns = known->second;
    return out;
  }
  TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
  for (const std::size_t workload : measuring.workloads(kRaced)) {
    Series calmest{0, std::numeric_limits<double>::infinity()};
    for (int repeat = 0; repeat <= kMostRepeatsOfPaper && calmest.spread > kCalm; ++repeat) {
      Series series;
      TRY_ASSIGN(out.failure, run_series(measuring, kernel, workload, series, stop));
      out.calls += kWarmUps + kPaperCalls;
      if (out.failure) return out;
      if (series.spread < calmest.spread) calmest = series;
    }
    out.mean_ns.push_back(calmest.mean_ns);
  }
  measuring.recorded_ns[id] = out.mean_ns;
  return out;
}

base::Result<model::Evaluation> paper_triage(Measuring& measuring, const model::Kernel& candidate,
                                             const model::Kernel& opponent, model::Evaluation evaluation,
                                             const std::stop_token& stop) {
  const StageClock clock(measuring, evaluation, model::Stage::triage);
  TRY_ASSIGN(const PaperLatency parent, paper_latency(measuring, opponent, stop));
  if (parent.failure) {
    evaluation.status = model::Status::not_measured;
    evaluation.reason = "its opponent failed: " + parent.failure->reason;
    return evaluation;
  }
  measuring.recorded_ns.erase(evaluation.source_id == evaluation.opponent ? "" : evaluation.source_id);
  TRY_ASSIGN(const PaperLatency own, paper_latency(measuring, candidate, stop));
  if (own.failure) {
    set_failure(evaluation, *own.failure);
    return evaluation;
  }
  evaluation.status = model::Status::passed;
  evaluation.ratio = ratio_of(parent.mean_ns, own.mean_ns, measuring.weights(measuring.workloads(kRaced)));
  evaluation.verdict = evaluation.ratio->estimate > 1   ? model::Verdict::faster
                       : evaluation.ratio->estimate < 1 ? model::Verdict::slower
                                                        : model::Verdict::tie;
  evaluation.decided_by = model::DecidedBy::cap;
  evaluation.blocks = 1;
  evaluation.workloads = timings(measuring, parent.mean_ns, own.mean_ns);
  evaluation.samples.push_back({parent.mean_ns, own.mean_ns, 0, false});
  TRY(reject_incredible(measuring, evaluation, stop));
  return evaluation;
}

base::Result<PlayoffReport> paper_playoff(Measuring& measuring, const std::vector<Arm>& arms,
                                          const std::stop_token& stop) {
  const auto quiet = measuring.target.quiet();
  const std::vector<double> weights = measuring.weights(measuring.workloads(kRaced));
  PlayoffReport report;
  std::vector<double> baseline;
  for (const Arm& arm : arms) {
    ArmScore score;
    TRY_ASSIGN(const model::BuildReport built, measuring.target.build(arm.kernel, stop));
    if (!built.built) {
      score.reason = built.diagnostics;
      report.arms.push_back(std::move(score));
      continue;
    }
    TRY_ASSIGN(const PaperLatency latency, paper_latency(measuring, arm.kernel, stop));
    if (latency.failure) {
      score.reason = latency.failure->reason;
    } else {
      if (baseline.empty()) baseline = latency.mean_ns;
      score.measured = true;
      score.score = ratio_of(baseline, latency.mean_ns, weights);
      score.workloads = timings(measuring, baseline, latency.mean_ns);
      score.blocks = 1;
    }
    report.arms.push_back(std::move(score));
  }
  report.blocks = 1;
  report.separated = true;
  return report;
}

}  // namespace accelopt::evaluation
