// SPDX-License-Identifier: Apache-2.0
// The numbers of a run's record beside what its samples say.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/reports.hpp"
#include "journal/journal.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::app {

class RecordedNumbers {
 public:
  RecordedNumbers() = default;
  /// @error corrupt: the record holds no opening of the task, or a measurement that cannot be read.
  /// Play-offs were for so many `places`.
  static base::Result<RecordedNumbers> of(const std::vector<journal::StepRecord>& steps, const model::Task& task,
                                          const evaluation::MeasureSettings& settings, int places);

  /// That the run measured on.
  [[nodiscard]] const std::string& device() const { return opened_.device.name; }
  /// Whether verdicts, ratios, times and shares of the roofline are those of the samples. @error corrupt: the message
  /// names the first that is not, with both values. Races and play-offs of the paper's protocol, which are means, are
  /// taken as they are.
  [[nodiscard]] base::Result<void> check() const;
  /// Whether all was measured in one way that the run could have: by one clock, which is one of the target's, and under
  /// rules that no flag and no version makes weaker. @error corrupt.
  [[nodiscard]] base::Result<void> check_rules() const;
  /// Whether all play-offs have their samples. Those before 0.1.0's evidence of version 2 have none.
  [[nodiscard]] base::Result<void> require_playoff_samples() const;
  /// Whether all confirmations are judged by how far restarts lie apart, too. Those of evidence before version 3 are
  /// not.
  [[nodiscard]] base::Result<void> require_spread_of_restarts() const;
  /// What was checked, and what cannot be.
  [[nodiscard]] std::string summary() const;

 private:
  struct Measured {
    std::string step;
    model::Evaluation evaluation;
  };

  struct RacedPlayoff {
    int iteration = 0;  ///< from 0
    evaluation::PlayoffReport report;
    [[nodiscard]] std::string name() const;
    /// Blocks were raced, and none is on record.
    [[nodiscard]] bool lacks_samples() const { return report.blocks > 0 && report.samples.empty(); }
  };

  /// Its numbers are means, not blocks.
  [[nodiscard]] bool is_by_means(const Measured& measured) const;
  [[nodiscard]] base::Result<void> check_clock(const std::string& what, const model::Environment& environment) const;
  [[nodiscard]] base::Result<void> check(const Measured& measured) const;
  [[nodiscard]] base::Result<void> check(const RacedPlayoff& playoff) const;
  [[nodiscard]] base::Result<void> check_roofline(const std::string& step, const model::WorkloadTiming& timing) const;

  model::Task task_;
  evaluation::MeasureSettings settings_;
  evaluation::OpenReport opened_;
  std::vector<Measured> measured_;  ///< races and confirmations that passed
  std::vector<RacedPlayoff> playoffs_;
  int places_ = 1;
};

}  // namespace accelopt::app
