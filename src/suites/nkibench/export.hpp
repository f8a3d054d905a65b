// SPDX-License-Identifier: Apache-2.0
// A winner in the layout of the public NKI benchmark.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "model/solution.hpp"

namespace accelopt::suites::nkibench {

struct ExportRequest {
  std::filesystem::path task_folder;  ///< of a task that was imported
  model::Solution winner;
  std::string winner_id;         ///< of its source
  std::filesystem::path output;  ///< the benchmark's folder, a checkout, or a new folder; what is in it stays
};

struct ExportReport {
  std::filesystem::path kernel;  ///< that was written
  std::filesystem::path summary;
};

/// Writes the kernel beside the benchmark's own, and lists it in summary.json as one more implementation of its case.
/// Writing the same winner again replaces it. @error unsupported: the task was not imported, or the winner has several
/// files; parse, corrupt: its origin or summary.json cannot be read; permission_denied, exhausted, io.
base::Result<ExportReport> export_winner(const ExportRequest& request);

}  // namespace accelopt::suites::nkibench
