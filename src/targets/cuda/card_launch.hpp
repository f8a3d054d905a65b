// SPDX-License-Identifier: Apache-2.0
// A launch plan with addresses: everything that a call launches, made ready before the clock runs.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.hpp"
#include "model/launch_plan.hpp"
#include "targets/cuda/card_checks.hpp"
#include "targets/cuda/card_device.hpp"

namespace accelopt::targets::cuda {

/// Where a plan's tensors lie, and the scalars' values.
struct PlanBinding {
  struct Input {
    DevicePointer address = 0;
    bool scalar = false;
    std::uint64_t bits = 0;  ///< of a scalar: its bytes, lowest first
    std::size_t size = 8;    ///< of a scalar: bytes
  };
  std::vector<Input> inputs;
  std::vector<DevicePointer> outputs;
  std::vector<DevicePointer> scratch;
};

class PreparedPlan {
 public:
  // Its parts point to one another.
  PreparedPlan(PreparedPlan&&) = default;
  PreparedPlan& operator=(PreparedPlan&&) = delete;
  PreparedPlan(const PreparedPlan&) = delete;
  PreparedPlan& operator=(const PreparedPlan&) = delete;
  ~PreparedPlan() = default;
  /// Looks up kernels, sets their attributes, encodes tensor maps. @error invalid_argument: a kernel is not there, does
  /// not take what `args` gives it, or the device refuses what is asked; for people and fixer.
  static base::Result<PreparedPlan> prepare(CardDevice& device, const DeviceModule& module,
                                            const model::LaunchPlan& plan, const PlanBinding& binding);
  /// Clears the scratch tensors that must be, and launches everything. @error invalid_argument: a launch is refused.
  /// Events, one a launch, are recorded behind each.
  base::Result<void> launch(CardDevice& device, Checks& checks, const std::vector<CudaEvent*>& behind = {});
  /// The two halves of `launch`, for who must tell the candidate's kernels from the clearing.
  base::Result<void> clear(Checks& checks) const;
  base::Result<void> launch_kernels(CardDevice& device, const std::vector<CudaEvent*>& behind = {});
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
    LaunchAttribute cluster;
    std::vector<void*> parameters;
  };
  struct Cleared {
    DevicePointer address = 0;
    std::uint64_t bytes = 0;
  };
  base::Result<void> add(CardDevice& device, const DeviceModule& module, const model::KernelLaunch& launch,
                         const PlanBinding& binding);

  std::deque<Kernel> kernels_;
  std::deque<std::uint64_t> values_;  ///< that parameters point to: they stay where they are
  std::deque<EncodedTensorMap> maps_;
  std::vector<Cleared> cleared_;
  std::uint64_t local_bytes_ = 0;
};

}  // namespace accelopt::targets::cuda
