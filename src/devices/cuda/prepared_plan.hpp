// SPDX-License-Identifier: Apache-2.0
// A launch plan with addresses: everything that a call launches, made ready before the clock runs.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/device.hpp"
#include "devices/cuda/program.hpp"

namespace accelopt::devices::cuda {

/// Where the tensors of one call lie, and what its scalar inputs are, by name.
struct PlanBinding {
  struct Tensor {
    DevicePointer address = 0;
    std::uint64_t bytes = 0;
  };
  struct Scalar {
    model::DType dtype = model::DType::int64;
    std::uint64_t bits = 0;  ///< its bytes, lowest first
  };
  std::map<std::string, Tensor> tensors;  ///< inputs, outputs and scratch buffers
  std::map<std::string, Scalar> scalars;
};

/// A program's machine code as the device has it, a module per cubin.
using Modules = std::vector<DeviceModule>;

/// What a call launches; both outlive it.
struct LoadedPlan {
  const Modules& modules;
  const LaunchPlan& plan;
};

class PreparedPlan {
 public:
  // Its parts point to one another.
  PreparedPlan(PreparedPlan&&) = default;
  PreparedPlan& operator=(PreparedPlan&&) = delete;
  PreparedPlan(const PreparedPlan&) = delete;
  PreparedPlan& operator=(const PreparedPlan&) = delete;
  ~PreparedPlan() = default;
  /// Looks up kernels, sets their attributes, encodes tensor maps. @error invalid_argument: a kernel, a tensor or a
  /// scalar is not there, a kernel takes other parameters than its launch gives it, or the device refuses what is
  /// asked; for people and fixer.
  static base::Result<PreparedPlan> prepare(Device& device, const LoadedPlan& loaded, const PlanBinding& binding);
  /// Clears the scratch tensors that must be, and launches everything. @error invalid_argument: a launch is refused.
  /// Events, one a launch, are recorded behind each.
  base::Result<void> launch(Device& device, Checks& checks, const std::vector<CudaEvent*>& behind = {});
  /// The two halves of `launch`, for who must tell the candidate's kernels from the clearing.
  base::Result<void> clear(Checks& checks) const;
  base::Result<void> launch_kernels(Device& device, const std::vector<CudaEvent*>& behind = {});
  /// The most local memory that one of the kernels takes, bytes a thread.
  [[nodiscard]] std::uint64_t local_bytes() const { return local_bytes_; }
  /// Names of the kernels, in order.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  PreparedPlan() = default;
  struct Kernel {
    std::string name;
    CudaFunction* function = nullptr;
    LaunchConfig config;
    std::array<LaunchAttribute, 4> attributes{};
    std::vector<void*> parameters;
  };
  struct Cleared {
    DevicePointer address = 0;
    std::uint64_t bytes = 0;
  };
  static void attribute(Kernel& kernel, std::uint32_t id, const std::vector<std::uint32_t>& value);
  base::Result<EncodedTensorMap*> map_named(const LaunchPlan& plan, const std::string& name);
  base::Result<void> add(Device& device, const LoadedPlan& loaded, const Launch& launch, const PlanBinding& binding);

  std::deque<Kernel> kernels_;
  std::deque<std::uint64_t> values_;  ///< that parameters point to: they stay where they are
  std::deque<EncodedTensorMap> maps_;
  std::vector<Cleared> cleared_;
  std::uint64_t local_bytes_ = 0;
};

}  // namespace accelopt::devices::cuda
