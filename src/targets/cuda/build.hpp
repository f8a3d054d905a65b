// SPDX-License-Identifier: Apache-2.0
// From CUDA source to cubin, in a sandboxed process, with NVRTC loaded at run time. Needs no device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/launch_plan.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"
#include "sandbox/pause_gate.hpp"

namespace accelopt::targets::cuda {

/// What one kernel of a cubin takes, as ptxas reports it.
struct KernelResources {
  std::string kernel;
  int registers = 0;            ///< a thread
  int spill_bytes = 0;          ///< stored and loaded, a thread
  int stack_bytes = 0;          ///< a thread
  int static_shared_bytes = 0;  ///< a block
  int max_threads = 0;          ///< of __launch_bounds__; 0: not stated
};

/// Limits of a device that launches are checked against before anything runs.
struct DeviceLimits {
  std::string architecture = "sm_90a";  ///< what is compiled for
  int registers_per_block = 65536;
  int shared_bytes_per_block = 232448;  ///< the most that a block may opt in to
  int threads_per_block = 1024;
  int multiprocessors = 132;
  int threads_per_multiprocessor = 2048;
  int registers_per_multiprocessor = 65536;
  int shared_bytes_per_multiprocessor = 233472;
  int blocks_per_multiprocessor = 32;
};

/// A built solution: the report, and when it was built what a device needs to run it.
struct BuiltCuda {
  model::BuildReport report;  ///< machine_code_id: hash of the cubin with its launch plan
  std::string cubin;
  model::DeviceDirectives directives;
  std::vector<std::int64_t> tuned_values;
  std::vector<KernelResources> resources;  ///< those that the plan launches, in its order
};
using BuiltCudaPtr = std::shared_ptr<const BuiltCuda>;

struct CudaBuildOptions {
  std::filesystem::path helper;  ///< the program accelopt-nvrtc; empty: beside this program
  std::string nvrtc;             ///< library to load, e.g. a path; empty: libnvrtc.so.* where loaders and CUDA put it
  std::string headers;           ///< CUDA's include folder; empty: found beside the library
  std::map<std::string, std::string> environment;  ///< CUDA_HOME CUDA_PATH LD_LIBRARY_PATH VIRTUAL_ENV HOME, where set
  std::filesystem::path cache;                     ///< for precompiled headers; empty: none are kept
  std::vector<int> cores;                          ///< where compilers may run; empty: anywhere
  sandbox::PauseGate* gate = nullptr;              ///< stops builds while something is measured
  DeviceLimits limits;
};

/// Name and version of the NVRTC that would be used, e.g. "NVRTC 13.0". @error unsupported: there is none; says where
/// it was looked for and what to install.
base::Result<std::string> find_nvrtc(const CudaBuildOptions& options);

/// Builds the candidates of one task and keeps what it built. Every function may be called from many threads.
class CudaBuilder {
 public:
  virtual ~CudaBuilder() = default;

  /// Builds the solution, or returns what was built before. Checked before it counts as built: directives, the launch
  /// plan of every workload, registers, shared memory and threads against the limits. A solution that does not build is
  /// a report.
  /// @error io, cancelled; unsupported: no NVRTC.
  virtual base::Result<BuiltCudaPtr> build(const model::Solution& solution, std::stop_token stop) = 0;

  /// The cubin of a solution that builds, with lines of its source where that leaves the machine code as it is.
  /// @error invalid_argument: it does not build; as `build`.
  virtual base::Result<std::string> cubin_with_lines(const model::Solution& solution, std::stop_token stop) = 0;

  /// Builds the task's reference.cu, written over a type `real`, with `real` as "double" or "float". Its floating
  /// inputs, outputs and scratch tensors are all of that type: bind its plans with `reference_definition`
  /// (task_header.hpp).
  /// @error invalid_argument: it does not build, with diagnostics.
  virtual base::Result<BuiltCudaPtr> build_reference(const std::string& real, std::stop_token stop) = 0;

  /// Builds trusted code of this program: `text` with `definitions` ("-DNAME=VALUE").
  virtual base::Result<std::string> build_trusted(const std::string& name, const std::string& text,
                                                  const std::vector<std::string>& definitions,
                                                  std::stop_token stop) = 0;

  /// What candidates include implicitly: constant axes, 16-bit and 8-bit types.
  [[nodiscard]] virtual const std::string& task_header() const = 0;
  [[nodiscard]] virtual std::string flags_text() const = 0;
  [[nodiscard]] virtual std::string compiler_name() const = 0;
};

base::Result<std::unique_ptr<CudaBuilder>> make_cuda_builder(const model::Task& task, CudaBuildOptions options,
                                                             const std::stop_token& stop);

/// Threads of the plan's launches that fit on a multiprocessor at once over what it can hold, 0..1.
double occupancy(const KernelResources& resources, const model::KernelLaunch& launch, const DeviceLimits& limits);

}  // namespace accelopt::targets::cuda
