// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "app/best.hpp"
#include "base/result.hpp"
#include "suites/flashinfer_trace/export.hpp"

namespace accelopt::app {

struct DatasetExportOptions {
  std::filesystem::path output;
  std::string author = "accelopt";
};

/// Writes a run's winner as FlashInfer Trace, with the run's result object beside it. @error as export_winner.
base::Result<suites::flashinfer_trace::ExportReport> export_dataset(const Winner& winner,
                                                                    const DatasetExportOptions& options);

}  // namespace accelopt::app
