// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace accelopt::devices::cuda {
namespace {

// How a multiprocessor hands out what it has, on every device since compute capability 9.0 (as
// cuda_occupancy.h counts).
constexpr int kWarpThreads = 32;
constexpr int kRegistersAWarpUnit = 256;
constexpr int kSchedulers = 4;              ///< of a multiprocessor, with a quarter of the registers each
constexpr int kSharedUnit = 128;            ///< bytes
constexpr int kReservedSharedBytes = 1024;  ///< a block, for the system

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::int64_t threads_of(const Launch& launch) {
  return std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

std::int64_t warps_of(std::int64_t threads) {
  return (threads + kWarpThreads - 1) / kWarpThreads;
}

std::int64_t registers_of_warp(const KernelResources& resources) {
  return std::max<std::int64_t>(rounded_up(std::int64_t{resources.registers} * kWarpThreads, kRegistersAWarpUnit), 1);
}

/// Blocks that fit on a multiprocessor at once, and what keeps more of them out.
struct Residency {
  std::int64_t blocks = 0;
  const char* limit = "";
};

Residency residency(const KernelResources& resources, const Launch& launch, const DeviceLimits& limits) {
  const std::int64_t threads = std::max<std::int64_t>(threads_of(launch), 1);
  const std::int64_t warps = warps_of(threads);
  const std::int64_t warps_by_registers =
      limits.registers_per_multiprocessor / kSchedulers / registers_of_warp(resources) * kSchedulers;
  const std::int64_t shared =
      rounded_up(std::int64_t{resources.static_shared_bytes} + launch.shared_bytes + kReservedSharedBytes, kSharedUnit);
  Residency out{limits.blocks_per_multiprocessor, "the number of blocks"};
  const auto limit = [&](std::int64_t blocks, const char* what) {
    if (blocks < out.blocks) out = {blocks, what};
  };
  limit(limits.threads_per_multiprocessor / kWarpThreads / warps, "threads");
  limit(warps_by_registers / warps, "registers");
  if (registers_of_block(resources, threads) > limits.registers_per_block) out = {0, "registers"};
  limit(limits.shared_bytes_per_multiprocessor / shared, "shared memory");
  return out;
}

}  // namespace

DeviceLimits limits_of(const DeviceFacts& facts) {
  DeviceLimits out;
  out.architecture =
      fmt::format("sm_{}{}{}", facts.compute_major, facts.compute_minor, facts.compute_major >= 9 ? "a" : "");
  out.registers_per_block = facts.registers_per_block;
  out.shared_bytes_per_block = facts.shared_bytes_per_block;
  out.threads_per_block = facts.threads_per_block;
  out.multiprocessors = facts.multiprocessors;
  out.threads_per_multiprocessor = facts.threads_per_multiprocessor;
  out.registers_per_multiprocessor = facts.registers_per_multiprocessor;
  out.shared_bytes_per_multiprocessor = facts.shared_bytes_per_multiprocessor;
  return out;
}

std::int64_t registers_of_block(const KernelResources& resources, std::int64_t threads) {
  return rounded_up(warps_of(threads), kSchedulers) * registers_of_warp(resources);
}

double occupancy(const KernelResources& resources, const Launch& launch, const DeviceLimits& limits) {
  const std::int64_t threads =
      rounded_up(threads_of(launch), kWarpThreads) * residency(resources, launch, limits).blocks;
  return std::min(1.0, static_cast<double>(threads) / std::max(limits.threads_per_multiprocessor, 1));
}

std::string resource_remark(const KernelResources& resources, const Launch& launch, const DeviceLimits& limits) {
  std::string out = resources.kernel + ": " + std::to_string(resources.registers) + " registers a thread, ";
  out += resources.spill_bytes > 0 ? std::to_string(resources.spill_bytes) + " bytes spilled" : "no spills";
  if (resources.stack_bytes > 0) out += ", " + std::to_string(resources.stack_bytes) + " bytes of stack";
  if (resources.static_shared_bytes + static_cast<std::int64_t>(launch.shared_bytes) > 0) {
    out += ", " + std::to_string(resources.static_shared_bytes) + " + " + std::to_string(launch.shared_bytes) +
           " bytes of static and dynamic shared memory";
  }
  const long percent = std::lround(100 * occupancy(resources, launch, limits));
  out += "; " + std::to_string(percent) + " % occupancy";
  if (percent < 100) out += std::string(", limited by ") + residency(resources, launch, limits).limit;
  return out;
}

std::vector<model::ProfileItem> describe_launches(const Program& program, const LaunchPlan& plan,
                                                  const DeviceLimits& limits) {
  std::vector<model::ProfileItem> out;
  for (const Launch& launch : plan.launches) {
    const std::vector<KernelResources>& known = program.cubins.at(launch.cubin).kernels;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const KernelResources& one) { return one.kernel == launch.kernel; });
    if (found == known.end()) continue;
    const KernelResources& takes = *found;
    const auto add = [&](const char* name, double value, const char* unit, const char* meaning) {
      out.push_back({launch.kernel + ": " + name, value, unit, meaning});
    };
    const double threads = static_cast<double>(launch.block[0]) * launch.block[1] * launch.block[2];
    const double blocks = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    const double resident = occupancy(takes, launch, limits) * limits.threads_per_multiprocessor / threads;
    add("registers", takes.registers, "", "a thread");
    if (takes.spill_bytes > 0) add("spills", takes.spill_bytes, "bytes", "of registers to memory, a thread");
    const double shared = takes.static_shared_bytes + static_cast<double>(launch.shared_bytes);
    if (shared > 0) add("shared memory", shared, "bytes", "a block");
    add("occupancy", 100 * occupancy(takes, launch, limits), "%", "threads on a multiprocessor at once / most");
    add("blocks", blocks, "", "of the grid");
    if (resident > 0) {
      add("waves", blocks / (resident * limits.multiprocessors), "",
          "blocks / those that the device holds at once; a little over a whole number leaves it idle at the end");
    }
  }
  return out;
}

}  // namespace accelopt::devices::cuda
