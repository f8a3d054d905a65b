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
  static base::Result<RecordedNumbers> of(const std::vector<journal::StepRecord>& steps, const model::Task& task,
                                          const evaluation::MeasureSettings& settings);

  /// That the run measured on.
  [[nodiscard]] const std::string& device() const { return opened_.device.name; }
  /// Whether verdicts, ratios, times and shares of the roofline are those of the samples. @error corrupt: the message
  /// names the first that is not, with both values. Of the protocol by blocks, which alone keeps samples.
  [[nodiscard]] base::Result<void> check() const;
  /// What was checked, and what cannot be.
  [[nodiscard]] std::string summary() const;

 private:
  struct Measured {
    std::string step;
    model::Evaluation evaluation;
  };

  [[nodiscard]] base::Result<void> check(const Measured& measured) const;
  [[nodiscard]] base::Result<void> check_roofline(const std::string& step, const model::WorkloadTiming& timing) const;

  model::Task task_;
  evaluation::MeasureSettings settings_;
  evaluation::OpenReport opened_;
  std::vector<Measured> measured_;  ///< races and confirmations that passed
  int playoffs_ = 0;
};

}  // namespace accelopt::app
