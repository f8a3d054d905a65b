// SPDX-License-Identifier: Apache-2.0
// CUDA kernels on a device of this machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "evaluation/target.hpp"
#include "targets/cuda/build.hpp"

namespace accelopt::targets::cuda {

/// Makes what builds a task's candidates.
using MakeBuilder =
    std::function<base::Result<std::unique_ptr<CudaBuilder>>(const model::Task&, CudaBuildOptions, std::stop_token)>;

struct CudaOptions {
  int device = 0;                             ///< "cuda:<device>", as the driver counts
  std::string driver;                         ///< library to load; empty: libcuda.so.1
  std::string management;                     ///< likewise; empty: libnvidia-ml.so.1
  std::string server;                         ///< path of accelopt-device; empty: beside this program
  std::filesystem::path cache;                ///< where measured peaks are kept; empty: nowhere
  std::optional<evaluation::Peaks> peaks;     ///< that are known; none: from the cache, or measured
  CudaBuildOptions build;                     ///< its environment tells too where NVIDIA's tools are
  std::chrono::seconds counting_limit{180};   ///< one run of Nsight Compute
  std::chrono::seconds sanitizing_limit{60};  ///< one run of one tool of compute-sanitizer
  std::chrono::milliseconds patience{10000};  ///< with other processes on the device, an evaluation
  std::map<std::string, MakeBuilder> builders{{"cuda", make_cuda_builder}};  ///< by the task's target
  /// Makes what runs a task's reference.cpp; empty: such a task is refused.
  std::function<base::Result<evaluation::HostReference>(const model::Task&, evaluation::DeviceUse&, std::stop_token)>
      make_host_reference;
};

std::unique_ptr<evaluation::Target> make_cuda_target(CudaOptions options);

}  // namespace accelopt::targets::cuda
