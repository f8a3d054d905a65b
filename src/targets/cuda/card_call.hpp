// SPDX-License-Identifier: Apache-2.0
// One timed call: buffers laid out, poisoned and flushed, the plan launched between two events, everything checked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "targets/cuda/card_checks.hpp"
#include "targets/cuda/card_launch.hpp"
#include "targets/cuda/card_protocol.hpp"
#include "targets/cuda/card_slots.hpp"

namespace accelopt::targets::cuda {

class Caller {
 public:
  static base::Result<std::unique_ptr<Caller>> create(CardDevice& device, Checks& checks);

  /// One call of a kernel that was loaded. What the kernel does wrong is in the reply; `dead` in it: this process
  /// cannot go on. @error exhausted: too little device memory; corrupt: an earlier kernel damaged the slot, and this
  /// process cannot go on; internal.
  base::Result<CallReply> call(const DeviceModule& module, const CardSlot& slot, const CallRequest& request);

 private:
  struct Region;
  struct Sample;
  Caller(CardDevice& device, Checks& checks) : device_(device), checks_(checks), space_(device) {}
  base::Result<void> begin();
  base::Result<std::vector<std::vector<Region>>> lay_out(const CardSlot& slot, const CallRequest& request);
  base::Result<void> fill(const CardSlot& slot, const CallRequest& request,
                          const std::vector<std::vector<Region>>& regions, std::uint64_t seed);
  base::Result<std::vector<model::ProfileItem>> launch_times(const std::vector<std::string>& names);
  base::Result<Sample> run(std::vector<PreparedPlan>& plans, const CallRequest& request);
  base::Result<void> await_call(std::chrono::nanoseconds limit, std::chrono::steady_clock::time_point& busy);
  base::Result<void> inspect(const CardSlot& slot, const std::vector<std::vector<Region>>& regions, std::uint64_t seed,
                             CallReply& reply);
  base::Result<void> compare(const CardSlot& slot, const std::vector<std::vector<Region>>& regions,
                             const CallRequest& request, CallReply& reply);
  base::Result<bool> intact(const CardSlot& slot);
  base::Result<CallReply> failed(const base::Error& error);
  double usual_clock_of_slow(double mhz);
  void find_fault(const Sample& sample, evaluation::CallOutcome& outcome);

  CardDevice& device_;
  Checks& checks_;
  Workspace space_;
  DeviceMemory marks_;  ///< flags of the checks, and what the clock kernel leaves
  volatile std::uint32_t* gate_ = nullptr;
  DevicePointer gate_there_ = 0;
  CudaEvent* start_ = nullptr;
  CudaEvent* stop_ = nullptr;
  std::vector<CudaEvent*> behind_;  ///< launches, where they are timed one by one
  std::vector<MaskedMemory> kept_;  ///< outputs of the call that was to be kept
  std::deque<double> clocks_;       ///< of the last samples, MHz
};

}  // namespace accelopt::targets::cuda
