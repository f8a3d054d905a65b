// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stop_token>

#include "base/result.hpp"
#include "evaluation/reports.hpp"
#include "targets/cpu/compiler.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::targets::cpu {

/// Where measured peaks are kept: one file a CPU model and compiler. No folder: nowhere.
struct PeakCache {
  std::filesystem::path folder;
};

/// One core's peaks, from the cache or measured in about two seconds. @error unsupported: the probe does not build or
/// run.
base::Result<evaluation::Peaks> measure_peaks(const Compiler& compiler, const Machine& machine, int core,
                                              const PeakCache& cache, const std::stop_token& stop);

/// Measures whatever the cache holds, keeps the larger value of each, and stores them.
base::Result<evaluation::Peaks> measure_peaks_again(const Compiler& compiler, const Machine& machine, int core,
                                                    const PeakCache& cache, const evaluation::Peaks& before,
                                                    const std::stop_token& stop);

}  // namespace accelopt::targets::cpu
