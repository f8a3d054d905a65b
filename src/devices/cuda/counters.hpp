// SPDX-License-Identifier: Apache-2.0
// The hardware counters that Nsight Compute is asked for, and its table of them as figures of a profile.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/evaluation.hpp"

namespace accelopt::devices::cuda {

/// Names as `ncu --metrics` takes them.
std::vector<std::string> counter_metrics();

/// One launch of a kernel.
struct KernelCounters {
  std::string kernel;
  std::map<std::string, double> values;  ///< by metric, in base units; what the device does not know is not there
};

/// What one run of ncu printed.
struct CounterTable {
  std::vector<KernelCounters> launches;  ///< in their order
  std::vector<std::string> unknown;      ///< metrics that ncu names as not known, without their suffixes
  bool refused = false;                  ///< the driver keeps the counters from this user
  /// Why there is nothing or not everything, one line without paths: what accelopt-device said, ncu's first complaint,
  /// or else what it printed first; empty: it printed nothing of the kind.
  std::string problem;
};

/// Reads standard output and error of `ncu --csv --page raw --print-units base`.
CounterTable read_counters(const std::string& output);

/// The figures of the launches, those of the longest ones where there are several; then their names begin with the
/// kernel's. A kernel that was launched several times is described by its longest launch.
std::vector<model::ProfileItem> describe_counters(const std::vector<KernelCounters>& launches);

}  // namespace accelopt::devices::cuda
