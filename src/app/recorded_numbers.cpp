// SPDX-License-Identifier: Apache-2.0
#include "app/recorded_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/race/recompute.hpp"
#include "evaluation/roofline.hpp"
#include "model/target_description.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;
using model::StepKind;

/// Logarithms of two machines' libraries may differ in their last digits.
constexpr double kSame = 1e-9;
/// A run that was resumed on another card of its kind measured against that card's peaks, which are not on record;
/// cards of one kind were seen 2.2 % apart.
constexpr double kCardsDiffer = 0.03;

/// That some version takes by itself: since version 2 of the statistics a confirmation has eight.
constexpr int kFewestRestarts = 3;

/// As people name a measurement's step.
std::string short_step(const std::string& step) {
  return step.substr(0, step.find(':') + 13);
}

bool nearly_equal(double a, double b) {
  return std::fabs(a - b) <= kSame * std::max(std::fabs(a), std::fabs(b));
}

Result<void> differ(const std::string& what, const std::string& recorded, const std::string& by_samples) {
  return base::fail(ErrorCode::corrupt, what + " is " + recorded + " on record, and " + by_samples + " by its samples");
}

Result<void> require_equal(const std::string& what, double recorded, double by_samples) {
  if (nearly_equal(recorded, by_samples)) return {};
  return differ(what, fmt::format("{:.9g}", recorded), fmt::format("{:.9g}", by_samples));
}

Result<void> require_equal(const std::string& what, const std::optional<model::Interval>& recorded,
                           const std::optional<model::Interval>& by_samples) {
  if (!recorded || !by_samples) {
    if (recorded.has_value() == by_samples.has_value()) return {};
    return differ(what, recorded ? "there" : "missing", by_samples ? "there" : "missing");
  }
  TRY(require_equal(what, recorded->estimate, by_samples->estimate));
  TRY(require_equal(what + ", low end", recorded->low, by_samples->low));
  return require_equal(what + ", high end", recorded->high, by_samples->high);
}

Result<void> require_equal(const std::string& what, const model::WorkloadTiming& recorded,
                           const model::WorkloadTiming& by_samples) {
  if (recorded.name != by_samples.name || recorded.role != by_samples.role)
    return differ(what + ", a timed workload", recorded.name, by_samples.name);
  const std::string of = what + ", workload " + recorded.name + ": ";
  TRY(require_equal(of + "time_ns", recorded.time_ns, by_samples.time_ns));
  TRY(require_equal(of + "reference_ns", recorded.reference_ns.value_or(0), by_samples.reference_ns.value_or(0)));
  return require_equal(of + "ratio", recorded.ratio, by_samples.ratio);
}

/// Times that logarithms can be taken of.
bool all_are_times(const std::vector<model::BlockSample>& samples) {
  const auto positive = [](const std::vector<double>& times) {
    return std::all_of(times.begin(), times.end(), [](double time) { return std::isfinite(time) && time > 0; });
  };
  return std::all_of(samples.begin(), samples.end(), [&](const model::BlockSample& sample) {
    return positive(sample.reference_ns) && positive(sample.candidate_ns) && positive(sample.shifted_ns);
  });
}

}  // namespace

Result<RecordedNumbers> RecordedNumbers::of(const std::vector<journal::StepRecord>& steps, const model::Task& task,
                                            const evaluation::MeasureSettings& settings, int places) {
  RecordedNumbers out;
  out.places_ = places;
  out.task_ = task;
  out.settings_ = settings;
  for (const journal::StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    if (kind == StepKind::playoff) {
      TRY_ASSIGN(auto report, base::decode<evaluation::PlayoffReport>(step.output, step.key.kind));
      out.playoffs_.push_back({step.key.identity.iteration, std::move(report)});
    }
    if (kind == StepKind::open) {
      TRY_ASSIGN(out.opened_, base::decode<evaluation::OpenReport>(step.output, step.key.kind));
    }
    if (kind != StepKind::triage && kind != StepKind::confirm) continue;
    TRY_ASSIGN(auto evaluation, base::decode<model::Evaluation>(step.output, step.key.kind));
    if (evaluation.status == model::Status::passed) out.measured_.push_back({step.key.kind, std::move(evaluation)});
  }
  if (out.opened_.device.name.empty())
    return base::fail(ErrorCode::corrupt, "steps.jsonl: the task was opened nowhere");
  return out;
}

Result<void> RecordedNumbers::check() const {
  for (const Measured& measured : measured_) TRY(check(measured));
  for (const RacedPlayoff& playoff : playoffs_) TRY(check(playoff));
  return {};
}

bool RecordedNumbers::is_by_means(const Measured& measured) const {
  return settings_.protocol == model::Protocol::paper && measured.evaluation.kind == model::EvaluationKind::triage;
}

Result<void> RecordedNumbers::check_clock(const std::string& what, const model::Environment& environment) const {
  const std::string& clock = environment.clock;
  const std::string& of_run = opened_.baseline.environment.clock;
  if (clock != of_run) {
    return base::fail(ErrorCode::corrupt, fmt::format("{}: its clock is \"{}\", and that of the run's baseline \"{}\"",
                                                      what, clock, of_run));
  }
  const model::TargetDescription& target = model::target_of(task_);
  const bool known = clock.empty() || (clock == model::kModelledClock && !target.models.empty()) ||
                     (clock == model::kDeterministicClock && target.counts_time);
  if (known) return {};
  return base::fail(ErrorCode::corrupt,
                    what + ": no device of target " + task_.target + " has a clock \"" + clock + "\"");
}

Result<void> RecordedNumbers::check_rules() const {
  const evaluation::MeasureSettings usual;
  const auto weaker = [](const char* name, auto value, auto bound) {
    return base::fail(ErrorCode::corrupt,
                      fmt::format("{} is {}, and no accelopt measures with less care than {}", name, value, bound));
  };
  if (settings_.confirm_restarts < kFewestRestarts)
    return weaker("confirm_restarts", settings_.confirm_restarts, kFewestRestarts);
  if (settings_.confirm_min_blocks < usual.confirm_min_blocks)
    return weaker("confirm_min_blocks", settings_.confirm_min_blocks, usual.confirm_min_blocks);
  if (settings_.confirm_half_width > usual.confirm_half_width)
    return weaker("confirm_half_width", settings_.confirm_half_width, usual.confirm_half_width);
  if (settings_.playoff_min_blocks < usual.playoff_min_blocks)
    return weaker("playoff_min_blocks", settings_.playoff_min_blocks, usual.playoff_min_blocks);
  TRY(check_clock("the opening", opened_.baseline.environment));
  for (const Measured& measured : measured_)
    TRY(check_clock(short_step(measured.step), measured.evaluation.environment));
  return {};
}

std::string RecordedNumbers::RacedPlayoff::name() const {
  return fmt::format("the play-off of iteration {}", iteration + 1);
}

Result<void> RecordedNumbers::require_playoff_samples() const {
  for (const RacedPlayoff& playoff : playoffs_) {
    if (playoff.lacks_samples()) return base::fail(ErrorCode::corrupt, playoff.name() + ": its samples are missing");
  }
  return {};
}

Result<void> RecordedNumbers::require_spread_of_restarts() const {
  for (const Measured& measured : measured_) {
    const model::Evaluation& recorded = measured.evaluation;
    if (recorded.kind == model::EvaluationKind::confirm && !recorded.samples.empty() && recorded.statistics == 1)
      return base::fail(ErrorCode::corrupt, measured.step + ": its interval leaves out how far restarts lie apart");
  }
  return {};
}

Result<void> RecordedNumbers::check(const RacedPlayoff& playoff) const {
  const evaluation::PlayoffReport& recorded = playoff.report;
  if (recorded.samples.empty()) return {};
  const std::string what = playoff.name();
  const auto positive = [](double time) { return std::isfinite(time) && time > 0; };
  for (const evaluation::PlayoffSample& sample : recorded.samples) {
    for (const auto& times : sample.times_ns) {
      if (!std::all_of(times.begin(), times.end(), positive))
        return base::fail(ErrorCode::corrupt, what + ": a sample is no time");
    }
  }
  const auto clock = evaluation::samples_by_clock(opened_.baseline.environment.clock);
  const auto again = evaluation::recompute(task_, settings_, places_, clock, recorded);
  if (!again) return base::fail(ErrorCode::corrupt, what + ": its samples are none of a race of these arms");
  TRY(require_equal(what + ": the number of blocks", recorded.blocks, again->blocks));
  TRY(require_equal(what + ": whether its places came apart", recorded.separated ? 1 : 0, again->separated ? 1 : 0));
  for (std::size_t arm = 0; arm < recorded.arms.size(); ++arm) {
    const evaluation::ArmScore& score = recorded.arms[arm];
    const evaluation::ArmScore& by_samples = again->arms[arm];
    const std::string of = fmt::format("{}, arm {}", what, arm);
    TRY(require_equal(of + ": whether it was measured", score.measured ? 1 : 0, by_samples.measured ? 1 : 0));
    TRY(require_equal(of + ": whether it was dropped", score.dropped ? 1 : 0, by_samples.dropped ? 1 : 0));
    TRY(require_equal(of + ": its blocks", score.blocks, by_samples.blocks));
    if (!score.measured) continue;
    TRY(require_equal(of + ": its score", std::optional(score.score), std::optional(by_samples.score)));
    TRY(require_equal(of + ": the number of workloads", static_cast<double>(score.workloads.size()),
                      static_cast<double>(by_samples.workloads.size())));
    for (std::size_t i = 0; i < score.workloads.size(); ++i) {
      TRY(require_equal(of, score.workloads[i], by_samples.workloads[i]));
      TRY(check_roofline(of, score.workloads[i]));
    }
  }
  return {};
}

Result<void> RecordedNumbers::check(const Measured& measured) const {
  const std::string what = short_step(measured.step);
  const model::Evaluation& recorded = measured.evaluation;
  const auto kind = model::step_kind(measured.step) == StepKind::confirm ? model::EvaluationKind::confirm
                                                                         : model::EvaluationKind::triage;
  if (recorded.kind != kind) return base::fail(ErrorCode::corrupt, what + ": it is a measurement of another kind");
  if (!all_are_times(recorded.samples)) return base::fail(ErrorCode::corrupt, what + ": a sample is no time");
  if (is_by_means(measured)) return {};
  if (recorded.samples.empty()) return base::fail(ErrorCode::corrupt, what + ": it has no samples");
  const auto again = evaluation::recompute(task_, settings_, recorded);
  if (!again)
    return base::fail(ErrorCode::corrupt, what +
                                              ": its samples are none of a race of the task's workloads, or go on "
                                              "after the decision");
  if (again->verdict != recorded.verdict)
    return differ(what + ": the verdict", std::string(to_string(recorded.verdict)),
                  std::string(to_string(again->verdict)));
  TRY(require_equal(what + ": the ratio", recorded.ratio, again->ratio));
  TRY(require_equal(what + ": the number of blocks", recorded.blocks, again->blocks));
  TRY(require_equal(what + ": the number of workloads", static_cast<double>(recorded.workloads.size()),
                    static_cast<double>(again->workloads.size())));
  for (std::size_t i = 0; i < recorded.workloads.size(); ++i) {
    TRY(require_equal(what, recorded.workloads[i], again->workloads[i]));
    TRY(check_roofline(what, recorded.workloads[i]));
  }
  return {};
}

Result<void> RecordedNumbers::check_roofline(const std::string& step, const model::WorkloadTiming& timing) const {
  const auto workload = std::find_if(task_.workloads.begin(), task_.workloads.end(),
                                     [&](const model::Workload& one) { return one.name == timing.name; });
  evaluation::Peaks peaks = opened_.device.peaks;
  if (settings_.known_peaks) peaks = evaluation::larger_peaks(peaks, *settings_.known_peaks);
  const auto point = evaluation::roofline(task_, *workload, peaks, timing.time_ns);
  const std::string of = step + ", workload " + timing.name + ": ";
  if (!timing.roofline) {
    if (!point) return {};
    return base::fail(ErrorCode::corrupt, of + "its share of the roofline is missing");
  }
  // A kernel near the peaks has them measured again, and the larger ones, which lower the floor, are not on record.
  const auto earlier = evaluation::earlier_roofline(task_, *workload, peaks, timing.time_ns);
  const double most = !point ? 0 : earlier ? std::max(point->floor_ns, earlier->floor_ns) : point->floor_ns;
  if (!point || timing.roofline->floor_ns > most * (1 + kCardsDiffer) || timing.roofline->floor_ns < 0)
    return base::fail(ErrorCode::corrupt, of + "its floor is above what the task's cost and the device's peaks give");
  return require_equal(of + "the share of the roofline", timing.roofline->fraction,
                       std::min(1.0, timing.roofline->floor_ns / timing.time_ns));
}

std::string RecordedNumbers::summary() const {
  std::ptrdiff_t races = 0;
  std::ptrdiff_t means = 0;
  std::ptrdiff_t confirmations = 0;
  std::ptrdiff_t by_blocks = 0;
  std::size_t samples = 0;
  for (const Measured& one : measured_) {
    const bool confirmed = one.evaluation.kind == model::EvaluationKind::confirm;
    ++(is_by_means(one) ? means : confirmed ? confirmations : races);
    if (confirmed && one.evaluation.statistics == 1) ++by_blocks;
    if (!is_by_means(one)) samples += one.evaluation.samples.size();
  }
  for (const RacedPlayoff& playoff : playoffs_) samples += playoff.report.samples.size();
  const auto bare = std::count_if(playoffs_.begin(), playoffs_.end(),
                                  [](const RacedPlayoff& playoff) { return playoff.lacks_samples(); });
  std::string text = fmt::format(
      "verdicts, intervals, scores, times and roofline shares follow from the samples (races: {}, play-offs: {}, "
      "confirmations: {}, blocks: {})",
      races, static_cast<std::ptrdiff_t>(playoffs_.size()) - bare, confirmations, samples);
  if (bare > 0) text += fmt::format("; scores of play-offs ({}) have none on record", bare);
  if (means > 0) text += fmt::format("; races ({}) are means of the paper's protocol, taken as they are", means);
  if (by_blocks > 0)
    text += fmt::format("; intervals of confirmations ({}) leave out how far restarts lie apart", by_blocks);
  const evaluation::MeasureSettings usual;
  if (by_blocks < confirmations && settings_.confirm_restarts < usual.confirm_restarts)
    text +=
        fmt::format("; {} restarts were enough, where {} are now", settings_.confirm_restarts, usual.confirm_restarts);
  if (settings_.allow_regression > usual.allow_regression)
    text += fmt::format("; workloads may be up to {:.3g} % slower", 100 * settings_.allow_regression);
  return text;
}

}  // namespace accelopt::app
