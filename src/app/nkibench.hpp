// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "app/best.hpp"
#include "base/result.hpp"
#include "suites/nkibench/export.hpp"
#include "suites/nkibench/import.hpp"

namespace accelopt::app {

/// The benchmark's kernels as tasks of the target that runs them. @error as suites::nkibench::import_benchmark.
base::Result<suites::nkibench::ImportReport> import_nkibench(suites::nkibench::ImportOptions options);

/// A run's winner in the benchmark's layout. @error as suites::nkibench::export_winner.
base::Result<suites::nkibench::ExportReport> export_nkibench(const Winner& winner, const std::filesystem::path& output);

}  // namespace accelopt::app
