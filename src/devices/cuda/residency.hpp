// SPDX-License-Identifier: Apache-2.0
// What launches take of a device: how many blocks of a kernel a multiprocessor holds at once. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/cuda/program.hpp"
#include "devices/cuda/protocol.hpp"
#include "model/evaluation.hpp"

namespace accelopt::devices::cuda {

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

DeviceLimits limits_of(const DeviceFacts& facts);

/// Registers of a block of so many threads, as the hardware counts them when it decides whether it can run at all.
std::int64_t registers_of_block(const KernelResources& resources, std::int64_t threads);

/// Threads of the launch that fit on a multiprocessor at once over what it can hold, 0..1.
double occupancy(const KernelResources& resources, const Launch& launch, const DeviceLimits& limits);

/// "gemm: 96 registers a thread, no spills, 1024 bytes of static shared memory; 50 % occupancy, limited by registers".
std::string resource_remark(const KernelResources& resources, const Launch& launch, const DeviceLimits& limits);

/// What each launch of the plan takes of a multiprocessor, for a profile.
std::vector<model::ProfileItem> describe_launches(const Program& program, const LaunchPlan& plan,
                                                  const DeviceLimits& limits);

}  // namespace accelopt::devices::cuda
