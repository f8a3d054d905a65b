// SPDX-License-Identifier: Apache-2.0
// Verdicts from stored samples: what was measured decides, and anyone can decide again.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "evaluation/reports.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "stats/confirmation.hpp"
#include "stats/playoff.hpp"
#include "stats/triage.hpp"

namespace accelopt::evaluation {

/// What the samples of one evaluation say.
struct Recomputed {
  model::Verdict verdict = model::Verdict::none;
  model::Interval ratio;
  int blocks = 0;
  std::vector<model::WorkloadTiming> workloads;  ///< those that were timed, without their rooflines
};

/// Decides a triage or a confirmation again from its samples. Nothing for other kinds, for an evaluation without
/// samples, for a triage of another protocol than blocks, and for samples that do not fit the task's workloads, that
/// are no times, or that go on after the decision.
std::optional<Recomputed> recompute(const model::Task& task, const MeasureSettings& settings,
                                    const model::Evaluation& evaluation);

/// Decides a play-off for so many places again from its samples: its arms' scores, who was dropped, their workloads
/// without rooflines, and whether the places came apart. Nothing without samples, and for samples that do not fit the
/// task's workloads or that no race under these rules gives.
std::optional<PlayoffReport> recompute(const model::Task& task, const MeasureSettings& settings, int places,
                                       stats::Samples samples, const PlayoffReport& recorded);

/// Of a device whose evaluations state such a clock.
stats::Samples samples_by_clock(std::string_view clock);

// Shared with the evaluator.

stats::PlayoffRules playoff_rules(const MeasureSettings& settings, int places, stats::Samples samples);

/// `statistics`: the version of the rules (model::kStatistics).
stats::ConfirmationRules confirmation_rules(const MeasureSettings& settings, stats::Samples samples, int statistics);
/// What one workload's paired times say, without its roofline; no ratio without a reference.
model::WorkloadTiming timing_of(const model::Workload& workload, const std::vector<double>& reference_ns,
                                const std::vector<double>& candidate_ns, stats::Samples samples);
/// log(reference / candidate) of each workload.
std::vector<double> log_ratios(const std::vector<double>& reference_ns, const std::vector<double>& candidate_ns);
model::Verdict verdict_of(stats::RaceVerdict verdict);
/// The verdict that a confirmation's decision gives.
model::Verdict verdict_of(const stats::ConfirmationDecision& decision);

}  // namespace accelopt::evaluation
