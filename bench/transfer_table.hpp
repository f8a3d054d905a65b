// SPDX-License-Identifier: Apache-2.0
// One task's candidates, each built, verified and timed once on this machine and kept in a file: searches that meet the
// same candidate again are answered from there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "model/task.hpp"

namespace accelopt::bench {

/// What one program came to, raced against the task's baseline.
struct Measured {
  model::Status status = model::Status::not_measured;  ///< on the race and check workloads
  std::string reason;
  std::vector<double> log_ratios;         ///< a block: log(baseline time / its time); empty unless it passed
  std::optional<model::Status> held_out;  ///< once it was asked for
  std::vector<double> confirmed;          ///< as log_ratios, of sessions after those; empty until it was asked for
};

/// The speed-up over the baseline that all blocks of a program say; 0 where it did not pass.
double speedup_of(const Measured& measured);

/// One line a build, a measurement or a verdict on the held-out workloads, in FOLDER/TASK.jsonl; what is there is never
/// measured again, unless the task has changed. One thread.
class Table {
 public:
  /// Reads what there is. @error not_found, parse: as suites::load_task; io.
  static base::Result<std::unique_ptr<Table>> open(const std::filesystem::path& task_folder,
                                                   const std::filesystem::path& folder);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] const model::Task& task() const { return task_; }
  /// Device and baseline.
  base::Result<evaluation::OpenReport> opened();
  base::Result<model::BuildReport> build(const model::Solution& solution);
  /// By machine code. Requires that the solution builds.
  base::Result<Measured> measured(const model::Solution& solution);
  base::Result<model::Status> held_out(const model::Solution& solution);
  /// The speed-up in sessions of its own, as a run's confirmation measures its winner: the measurements by which it was
  /// chosen among others flatter it. Requires that it was measured, and passed.
  base::Result<double> confirmed(const model::Solution& solution);

  /// Candidates that were measured since it was opened.
  [[nodiscard]] int fresh() const { return fresh_; }
  /// Gives the device back; what is asked later opens it again.
  void close();

 private:
  struct Device;
  Table(model::Task task, std::filesystem::path file);
  base::Result<void> read();
  base::Result<void> write(const base::Json& line);
  base::Result<Device*> device();

  model::Task task_;
  std::string task_id_;
  std::filesystem::path file_;
  std::optional<evaluation::OpenReport> opened_;
  std::map<std::string, model::BuildReport> builds_;  ///< by source id
  std::map<std::string, Measured> measured_;          ///< by machine code id
  double best_ = 1;                                   ///< highest speed-up so far
  std::unique_ptr<Device> device_;
  int fresh_ = 0;
};

}  // namespace accelopt::bench
