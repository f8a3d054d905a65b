// SPDX-License-Identifier: Apache-2.0
// One timed call: tensors mapped at random places, poisoned and flushed, everything else taken away, the plan launched
// between two events, everything checked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/prepared_plan.hpp"
#include "devices/cuda/protocol.hpp"
#include "devices/cuda/slots.hpp"
#include "devices/cuda/watched_variables.hpp"

namespace accelopt::devices::cuda {

class Caller {
 public:
  static base::Result<std::unique_ptr<Caller>> create(Device& device, Checks& checks);

  /// Which variables have to hold after every call what they held when they were loaded.
  [[nodiscard]] WatchedVariables& variables() { return variables_; }

  /// One call of a program that was loaded. What the kernel does wrong is in the reply; `dead` in it: this process
  /// cannot go on. @error exhausted: too little device memory; internal.
  base::Result<CallReply> call(const LoadedPlan& loaded, DeviceSlot& slot, const CallRequest& request);
  /// Lets go of the slot's inputs, or of everything that is kept for the next call. To be called before slots change.
  void let_go(std::uint64_t slot);
  void let_go_of_all();

 private:
  struct Block;
  struct Sample;
  using Blocks = std::vector<std::vector<Block>>;  ///< outputs and scratch by set of inputs
  Caller(Device& device, Checks& checks) : device_(device), checks_(checks), variables_(checks) {}
  base::Result<void> begin();
  base::Result<void> map_inputs(const DeviceSlot& slot, const CallRequest& request);
  base::Result<PhysicalMemory> take_memory(std::uint64_t bytes);
  base::Result<Blocks> lay_out(const DeviceSlot& slot, const LaunchPlan& plan, const CallRequest& request);
  base::Result<std::vector<PreparedPlan>> bind(const LoadedPlan& loaded, const DeviceSlot& slot, const Blocks& blocks);
  base::Result<void> fill(DeviceSlot& slot, const CallRequest& request, const Blocks& blocks, std::uint64_t seed);
  base::Result<void> withdraw(DeviceSlot& slot, const CallRequest& request, const Blocks& blocks,
                              std::uint64_t local_bytes);
  base::Result<std::vector<model::ProfileItem>> launch_times(const std::vector<std::string>& names);
  base::Result<Sample> run(std::vector<PreparedPlan>& plans, const CallRequest& request);
  base::Result<void> await_call(std::chrono::nanoseconds limit, std::chrono::steady_clock::time_point& busy);
  base::Result<void> inspect(const DeviceSlot& slot, const Blocks& blocks, std::uint64_t seed, CallReply& reply);
  base::Result<void> compare(DeviceSlot& slot, Blocks& blocks, const CallRequest& request, CallReply& reply);
  void put_back(Blocks& blocks);
  base::Result<CallReply> with_probe(const LoadedPlan& loaded, DeviceSlot& slot, const CallRequest& request,
                                     CallReply reply);
  base::Result<CallReply> failed(const base::Error& error);
  double usual_clock_of_slow(double mhz);
  void find_fault(const Sample& sample, evaluation::CallOutcome& outcome);

  Device& device_;
  Checks& checks_;
  WatchedVariables variables_;
  std::map<std::uint64_t, std::vector<PhysicalMemory>> free_;  ///< for outputs and scratch, by size
  std::uint64_t mapped_slot_ = 0;
  std::vector<std::vector<Mapping>> inputs_;  ///< of that slot's tensors, by set; to be read alone
  volatile std::uint32_t* gate_ = nullptr;    ///< host memory that the device sees, too
  DevicePointer gate_there_ = 0;
  CudaEvent* start_ = nullptr;
  CudaEvent* stop_ = nullptr;
  std::vector<CudaEvent*> behind_;  ///< launches, where they are timed one by one
  std::uint64_t local_bytes_ = 0;   ///< the largest frame since local memory was overwritten
  struct Kept {
    PhysicalMemory memory;
    Placement placement;
  };
  std::shared_ptr<void> abandoned_;  ///< of a kernel that may still run: to unmap would be to wait for it
  std::vector<Kept> kept_;           ///< outputs of the call that was to be kept
  std::deque<double> clocks_;        ///< of the last samples, MHz
};

}  // namespace accelopt::devices::cuda
