// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/measure_peaks.hpp"

#include <algorithm>
#include <array>

namespace accelopt::devices::cuda {
namespace {

constexpr int kPeakRuns = 12;  ///< the best counts: clocks rise in the first ones
constexpr std::uint32_t kPeakThreads = 256;
constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kPeakBlocks = 8;  ///< a multiprocessor
constexpr std::uint32_t kPeakTurns = 2048;
constexpr std::uint32_t kCacheTurns = 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
constexpr std::chrono::seconds kPeakLimit{30};

// Operations a turn, as the kernels state them: of a thread, and of a warp.
constexpr double kFmaWork = 256;
constexpr double kBfloat16Work = 8 * 4096;
constexpr double kTf32Work = 8 * 2048;
// And of a warpgroup, by Hopper's own matrix instructions.
constexpr std::uint32_t kWarpgroup = 128;
constexpr std::uint32_t kWgmmaTurns = 512;
constexpr double kWgmma16Work = 8 * 2.0 * 64 * 256 * 16;
constexpr double kWgmmaTf32Work = 8 * 2.0 * 64 * 256 * 8;

class Probe {
 public:
  Probe(Device& device, const DeviceModule& module) : device_(device), module_(module) {}

  base::Result<void> begin() {
    TRY_ASSIGN(start_, device_.new_event());
    TRY_ASSIGN(stop_, device_.new_event());
    return {};
  }

  /// `work` a second of the best run.
  template <class... Arguments>
  base::Result<double> rate(const char* kernel, std::uint32_t blocks, double work, Arguments... arguments) {
    TRY_ASSIGN(CudaFunction* const function, module_.function(kernel));
    std::array<void*, sizeof...(Arguments)> parameters{&arguments...};
    LaunchConfig config;
    config.grid[0] = blocks;
    config.block[0] = kPeakThreads;
    config.stream = device_.stream();
    double best = 0;
    for (int run = 0; run < kPeakRuns; ++run) {
      TRY(device_.record(start_));
      TRY(device_.launch(config, function, parameters.data(), kernel));
      TRY(device_.record(stop_));
      TRY(device_.await(stop_, kPeakLimit));
      float milliseconds = 0;
      TRY(device_.checked(device_.driver()->elapsed(&milliseconds, start_, stop_), kernel));
      if (milliseconds > 0) best = std::max(best, work / (static_cast<double>(milliseconds) * 1e-3));
    }
    return best;
  }

 private:
  Device& device_;
  const DeviceModule& module_;
  CudaEvent* start_ = nullptr;
  CudaEvent* stop_ = nullptr;
};

/// Raises the matrix units' peaks to what wgmma reaches: twice of mma.sync's on some devices.
base::Result<void> raise_by_wgmma(Probe& probe, std::uint32_t blocks, DevicePointer sink, evaluation::Peaks& peaks) {
  const double warpgroups = static_cast<double>(blocks) * kPeakThreads / kWarpgroup;
  const auto rate = [&](const char* kernel, double work, std::uint32_t ones) {
    return probe.rate(kernel, blocks, work * kWgmmaTurns * warpgroups, kWgmmaTurns, ones, sink);
  };
  TRY_ASSIGN(const double bfloat16, rate("accelopt_wgmma_bfloat16", kWgmma16Work, 0x3f803f80));
  TRY_ASSIGN(const double float16, rate("accelopt_wgmma_float16", kWgmma16Work, 0x3c003c00));
  TRY_ASSIGN(const double tf32, rate("accelopt_wgmma_tf32", kWgmmaTf32Work, 0x3f800000));
  peaks.tensor_flops_per_second = std::max({peaks.tensor_flops_per_second, bfloat16, float16});
  peaks.tensor_tf32_flops_per_second = std::max(peaks.tensor_tf32_flops_per_second, tf32);
  return {};
}

}  // namespace

base::Result<evaluation::Peaks> measure_peaks(Device& device, const std::string& cubin) {
  TRY_ASSIGN(const DeviceModule module, device.load(cubin));
  Probe probe(device, module);
  TRY(probe.begin());
  const DeviceFacts& facts = device.facts();
  const std::uint64_t bytes = std::min(kMostBytes, facts.memory_bytes / 8) / 4096 * 4096;
  TRY_ASSIGN(const DeviceMemory from, device.allocate(bytes));
  TRY_ASSIGN(const DeviceMemory to, device.allocate(bytes));
  const auto blocks = kPeakBlocks * static_cast<std::uint32_t>(std::max(facts.multiprocessors, 1));
  const double threads = static_cast<double>(blocks) * kPeakThreads;
  const double warps = threads / kWarp;
  const DevicePointer sink = to.address();
  evaluation::Peaks peaks;
  TRY_ASSIGN(const double copied, probe.rate("accelopt_copy", blocks, 2.0 * static_cast<double>(bytes), to.address(),
                                             from.address(), bytes / 16));
  TRY_ASSIGN(const double read, probe.rate("accelopt_read", blocks, static_cast<double>(bytes), from.address(),
                                           bytes / 16, std::uint32_t{1}, sink));
  peaks.bytes_per_second = std::max(copied, read);
  const std::uint64_t held = static_cast<std::uint64_t>(facts.l2_bytes) / 4 / 4096 * 4096;
  TRY_ASSIGN(peaks.last_level_bytes_per_second,
             probe.rate("accelopt_read", blocks, static_cast<double>(held) * kCacheTurns, from.address(), held / 16,
                        kCacheTurns, sink));
  TRY_ASSIGN(peaks.flops_per_second,
             probe.rate("accelopt_fma_float32", blocks, kFmaWork * kPeakTurns * threads, kPeakTurns, 0.5F, sink));
  TRY_ASSIGN(peaks.flops_per_second_float64,
             probe.rate("accelopt_fma_float64", blocks, kFmaWork * kPeakTurns * threads, kPeakTurns, 0.5, sink));
  TRY_ASSIGN(peaks.tensor_flops_per_second,
             probe.rate("accelopt_mma_bfloat16", blocks, kBfloat16Work * kPeakTurns * warps, kPeakTurns,
                        std::uint32_t{0x3f803f80}, sink));
  TRY_ASSIGN(peaks.tensor_tf32_flops_per_second, probe.rate("accelopt_mma_tf32", blocks, kTf32Work * kPeakTurns * warps,
                                                            kPeakTurns, std::uint32_t{0x3f800000}, sink));
  if (facts.compute_major == 9 && facts.compute_minor == 0) TRY(raise_by_wgmma(probe, blocks, sink, peaks));
  return peaks;
}

}  // namespace accelopt::devices::cuda
