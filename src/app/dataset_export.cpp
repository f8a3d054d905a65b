// SPDX-License-Identifier: Apache-2.0
#include "app/dataset_export.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace accelopt::app {
namespace {

using suites::flashinfer_trace::ExportedTiming;

/// The result object's workloads (docs/json.md).
base::Result<std::vector<ExportedTiming>> timings_of(const base::Json& result) {
  std::vector<ExportedTiming> out;
  for (const base::Json& one : result.value("workloads", base::Json::array())) {
    ExportedTiming timing;
    TRY_ASSIGN(timing.workload, base::decode<std::string>(one.value("name", base::Json()), "a workload of the result"));
    TRY_ASSIGN(timing.winner_ns, base::decode<double>(one.value("best_ns", base::Json()), "a time of the result"));
    base::read_field(one, "baseline_ns", timing.baseline_ns);
    if (const base::Json speedup = one.value("speedup", base::Json()); speedup.is_object()) {
      TRY_ASSIGN(timing.speedup, base::decode<model::Interval>(speedup, "a speed-up of the result"));
    }
    out.push_back(std::move(timing));
  }
  return out;
}

}  // namespace

base::Result<suites::flashinfer_trace::ExportReport> export_dataset(const Winner& winner,
                                                                    const DatasetExportOptions& options) {
  const journal::RunInfo& run = winner.run;
  const base::Json result = run.result.value_or(base::Json::object());
  TRY_ASSIGN(const std::vector<ExportedTiming> timings, timings_of(result));
  // Datasets have local times without a zone.
  std::string timestamp = run.created;
  if (timestamp.ends_with('Z')) timestamp.pop_back();
  return suites::flashinfer_trace::export_winner({.task = run.task,
                                                  .task_folder = run.task_folder,
                                                  .winner = winner.solution,
                                                  .winner_id = base::text_at(result, "solution_id"),
                                                  .timings = timings,
                                                  .device = base::text_at(result, "device"),
                                                  .version = run.program_version,
                                                  .timestamp = timestamp,
                                                  .author = options.author,
                                                  .record = result,
                                                  .output = options.output});
}

}  // namespace accelopt::app
