// SPDX-License-Identifier: Apache-2.0
// What compute-sanitizer printed, as a verdict.
#pragma once

#include <string>
#include <vector>

namespace accelopt::devices::cuda {

enum class Sanitized { clean, faulty, unknown };

struct SanitizerVerdict {
  Sanitized state = Sanitized::unknown;
  std::string text;          ///< faulty: the first finding, on one line; unknown: why nothing can be said
  bool unsupported = false;  ///< the tool says that it does not know the device
};

/// Reads standard output and error of one run of compute-sanitizer (any tool, with --report-api-errors no and
/// --show-backtrace device). Clean only where the tool says that it found nothing and the program came to its end.
/// Warnings are no findings. A finding is the candidate's unless every function that it names, the callers among them,
/// begins with "accelopt_", as the trusted kernels do, and none is one of `kernels`, those of the plan.
SanitizerVerdict read_sanitizer(const std::string& output, bool ended_well, const std::vector<std::string>& kernels);

}  // namespace accelopt::devices::cuda
