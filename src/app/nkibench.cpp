// SPDX-License-Identifier: Apache-2.0
#include "app/nkibench.hpp"

#include <utility>

#include "base/json.hpp"

namespace accelopt::app {

base::Result<suites::nkibench::ImportReport> import_nkibench(suites::nkibench::ImportOptions options) {
  options.target = "trainium";
  return suites::nkibench::import_benchmark(options);
}

base::Result<suites::nkibench::ExportReport> export_nkibench(const Winner& winner,
                                                             const std::filesystem::path& output) {
  const base::Json result = winner.run.result.value_or(base::Json::object());
  return suites::nkibench::export_winner({.task_folder = winner.run.task_folder,
                                          .winner = winner.solution,
                                          .winner_id = base::text_at(result, "solution_id"),
                                          .output = output});
}

}  // namespace accelopt::app
