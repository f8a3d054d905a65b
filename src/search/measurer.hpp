// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluation/evaluator.hpp"
#include "evaluation/lookahead.hpp"
#include "search/budget.hpp"
#include "search/in_flight.hpp"
#include "search/recorder.hpp"

namespace accelopt::search {

/// The evaluator as a search uses it: every measurement recorded and never made twice, equal requests at the same time
/// made once, the device opened only when something is left to measure. May be used from many threads.
class Measurer {
 public:
  /// `evaluator` may be null in a replay. All arguments outlive the measurer.
  Measurer(evaluation::Evaluator* evaluator, Recorder& recorder, const model::Task& task,
           const evaluation::MeasureSettings& settings, evaluation::Lookahead* lookahead = nullptr);

  base::Outcome<evaluation::OpenReport> open(std::stop_token stop);
  /// Keyed by source: one build a source and run.
  base::Outcome<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop);
  /// Whether the source's build is on record, or was asked for in an earlier part of the run and put off.
  base::Result<OnRecord> build_on_record(const model::Kernel& kernel);
  /// Whether nothing is measured, only read from the record.
  [[nodiscard]] bool replaying() const { return recorder_.replaying(); }
  /// The candidate's build was put off: it will be raced against its parent if it builds.
  void expect_race(const model::Kernel& candidate, const model::Kernel& parent,
                   const std::string& parent_machine_code_id);
  void expect_playoff(const evaluation::ExpectedPlayoff& playoff);
  void expect_confirmations(const std::vector<model::Kernel>& finalists);
  /// Keyed by (iteration, parent, machine code): equal code is raced once against one parent.
  base::Outcome<model::Evaluation> triage(const model::Identity& identity, const model::Kernel& candidate,
                                          const std::string& machine_code_id, const model::Kernel& parent,
                                          std::stop_token stop);
  base::Outcome<model::Profile> profile(const model::Kernel& kernel, std::stop_token stop);
  base::Outcome<evaluation::PlayoffReport> playoff(int iteration, const std::vector<evaluation::Arm>& arms, int places,
                                                   std::stop_token stop);
  base::Outcome<model::Status> verify_held_out(const model::Kernel& kernel, std::stop_token stop);
  base::Outcome<model::Evaluation> confirm(const model::Kernel& kernel, std::stop_token stop);

 private:
  /// Before anything is asked: what it rests on is durable, and the device is open.
  base::Outcome<void> be_ready(std::stop_token stop);
  base::Outcome<void> ensure_open(std::stop_token stop);
  [[nodiscard]] std::string build_input_hash(const model::Kernel& kernel) const;

  evaluation::Evaluator* evaluator_;
  Recorder& recorder_;
  const model::Task& task_;
  const evaluation::MeasureSettings& settings_;
  evaluation::Lookahead* lookahead_;
  std::string task_id_;
  std::mutex open_mutex_;
  std::optional<evaluation::OpenReport> opened_;
  std::optional<evaluation::DeviceInfo> recorded_;  ///< that the run's measurements are from
  InFlight<model::BuildReport> builds_;
  InFlight<model::Evaluation> triages_;
  InFlight<model::Profile> profiles_;
};

}  // namespace accelopt::search
