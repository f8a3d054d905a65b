// SPDX-License-Identifier: Apache-2.0
// A measured winner as FlashInfer Trace: a Solution, and a Trace for each workload that was timed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::suites::flashinfer_trace {

/// One workload's times.
struct ExportedTiming {
  std::string workload;  ///< by its name in the task
  double winner_ns = 0;
  std::optional<double> baseline_ns{};
  std::optional<model::Interval> speedup{};  ///< over the baseline
};

struct ExportRequest {
  model::Task task;
  std::filesystem::path task_folder;  ///< where an imported task keeps what it was made from
  model::Solution winner;
  std::string winner_id;  ///< of its source
  std::vector<ExportedTiming> timings;
  std::string device;     ///< as it names itself
  std::string version;    ///< of the program that measured
  std::string timestamp;  ///< of the measurement, ISO 8601
  std::string author = "accelopt";
  base::Json record;             ///< our own, written beside
  std::filesystem::path output;  ///< the dataset's folder; what is in it stays
};

struct ExportReport {
  std::string solution;                      ///< its name
  std::vector<std::filesystem::path> files;  ///< that were written
  std::vector<std::string> notes;            ///< what the files cannot say, or what is not in them
};

/// Writes solutions/, traces/ and accelopt/ into the folder, and for an imported task also definitions/ and workloads/
/// and the solution that was its baseline. A definition, workloads and solutions that the folder has already, in any
/// form that read_dataset reads, stay as they are and are not written again; lines of workloads and traces are added.
/// Writing the same winner again replaces it, and the traces that accelopt made of it and of the baseline. @error
/// unsupported: the winner has a form that no Solution has, or the dataset one that has no place for the definition;
/// already_exists: another solution has the winner's name; parse, corrupt: what the task was made from, or a file of
/// the output, cannot be read; permission_denied, exhausted, io.
base::Result<ExportReport> export_winner(const ExportRequest& request);

}  // namespace accelopt::suites::flashinfer_trace
