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
#include "devices/cuda/open_task.hpp"
#include "devices/cuda/program.hpp"
#include "devices/cuda/residency.hpp"
#include "evaluation/instruments.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/launch_plan.hpp"
#include "model/task.hpp"
#include "model/tuning.hpp"
#include "sandbox/pause_gate.hpp"

namespace accelopt::targets::cuda {

/// A built solution: the report, and when it was built what a device needs to run it.
struct BuiltCuda {
  model::BuildReport report;       ///< machine_code_id: hash of the cubin with its launch plans
  devices::cuda::Program program;  ///< of one cubin; its plans are named as `plan_name` does
  model::DeviceDirectives directives;
  bool per_slot = false;  ///< its plans hold for the values that they were made with alone: `build_for`
};
using BuiltCudaPtr = std::shared_ptr<const BuiltCuda>;

/// What the host knows of one set of inputs.
struct KnownInputs {
  std::uint64_t slot = 0;                 ///< the invocation's number
  model::AxisValues axes;                 ///< all of them
  std::vector<evaluation::Bytes> values;  ///< in the definition's order; empty: a tensor that the host does not see
};

struct CudaBuildOptions {
  std::filesystem::path helper;  ///< the program accelopt-nvrtc; empty: beside this program
  std::string nvrtc;             ///< library to load, e.g. a path; empty: libnvrtc.so.* where loaders and CUDA put it
  std::string headers;           ///< CUDA's include folder; empty: found beside the library
  std::map<std::string, std::string> environment;  ///< CUDA_HOME CUDA_PATH LD_LIBRARY_PATH VIRTUAL_ENV HOME, where set
  std::filesystem::path cache;                     ///< for precompiled headers; empty: none are kept
  std::vector<int> cores;                          ///< where compilers may run; empty: anywhere
  sandbox::PauseGate* gate = nullptr;              ///< stops builds while something is measured
  devices::cuda::DeviceLimits limits;
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
  virtual base::Result<BuiltCudaPtr> build(const model::Kernel& kernel, std::stop_token stop) = 0;

  /// As Toolchain::found_space.
  virtual base::Result<model::TuningSpace> found_space(const model::Kernel&, std::stop_token) {
    return model::TuningSpace{};
  }

  /// The same with its machine code at another place, where that can be had. Of a solution that builds. @error as
  /// `build`.
  virtual base::Result<BuiltCudaPtr> build_elsewhere(const model::Kernel& kernel, std::stop_token stop);

  /// The plan of each of these sets of inputs, in their order, for a kernel of which plans hold for one set alone.
  /// @error io, cancelled, unavailable; unsupported: this front end makes no such kernels.
  virtual base::Result<std::vector<devices::cuda::SlotProgram>> build_for(const model::Kernel& kernel,
                                                                          const std::vector<KnownInputs>& slots,
                                                                          std::stop_token stop);

  /// The cubin of a solution that builds, with lines of its source where that leaves the machine code as it is.
  /// @error invalid_argument: it does not build; as `build`.
  virtual base::Result<std::string> cubin_with_lines(const model::Kernel& kernel, std::stop_token stop) = 0;

  /// Calls the kernel's own host function on these bytes of the definition's inputs. Of the measuring thread.
  /// @error as Instruments::host_run.
  virtual base::Result<evaluation::HostCalls> call_host_function(const model::Kernel& kernel,
                                                                 const model::AxisValues& axes,
                                                                 const std::vector<evaluation::Bytes>& inputs,
                                                                 std::stop_token stop);

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

}  // namespace accelopt::targets::cuda
