// SPDX-License-Identifier: Apache-2.0
// What evaluating CUDA kernels on this machine needs, for `accelopt doctor`.
#pragma once

#include <string>
#include <vector>

namespace accelopt::cli {

struct CudaFinding {
  std::string name;
  bool found = false;
  std::string detail;
  std::string advice;  ///< what to do; empty: nothing
};

/// NVRTC, CUDA's headers, the driver and its devices, Nsight Compute and compute-sanitizer. The driver is opened in a
/// process of its own with a time limit: a broken one can neither hang nor end this program.
std::vector<CudaFinding> examine_cuda();

}  // namespace accelopt::cli
