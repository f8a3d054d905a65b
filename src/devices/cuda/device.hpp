// SPDX-License-Identifier: Apache-2.0
// The device as accelopt-device holds it: one context, one stream, memory, modules.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/driver.hpp"
#include "devices/cuda/memory.hpp"
#include "devices/cuda/neighbours.hpp"
#include "devices/cuda/protocol.hpp"

namespace accelopt::devices::cuda {

/// An allocation of the driver's, for processes that keep nothing from a candidate. It frees itself.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Driver& driver, DevicePointer address, std::size_t bytes)
      : driver_(&driver), address_(address), bytes_(bytes) {}
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { reset(); }
  void reset();
  [[nodiscard]] DevicePointer address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const Driver* driver_ = nullptr;
  DevicePointer address_ = 0;
  std::size_t bytes_ = 0;
};

/// Loaded machine code that unloads itself.
class DeviceModule {
 public:
  DeviceModule(const Driver& driver, CudaModule* module) : driver_(&driver), module_(module) {}
  DeviceModule(DeviceModule&& other) noexcept
      : driver_(other.driver_), module_(std::exchange(other.module_, nullptr)) {}
  DeviceModule& operator=(DeviceModule&&) = delete;
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;
  ~DeviceModule();
  /// @error invalid_argument: there is no such kernel.
  [[nodiscard]] base::Result<CudaFunction*> function(const std::string& name) const;
  struct Variable {
    DevicePointer address = 0;
    std::size_t bytes = 0;
  };
  /// In global memory or constant. @error invalid_argument: there is no such variable.
  [[nodiscard]] base::Result<Variable> variable(const std::string& name) const;

 private:
  const Driver* driver_;
  CudaModule* module_;
};

/// Waiting ended without an answer of the device.
inline constexpr base::ErrorCode kHung = base::ErrorCode::timed_out;

class Device {
 public:
  /// @error unsupported: no driver, no such device, or one that is too old.
  static base::Result<std::unique_ptr<Device>> open(int ordinal, const std::string& library,
                                                    const std::string& management = {});
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }
  [[nodiscard]] Neighbours& neighbours() { return neighbours_; }
  [[nodiscard]] AddressSpace& space() { return *space_; }
  [[nodiscard]] CudaStream* stream() const { return stream_; }
  /// Once the device has failed nothing more can be done in this process; empty before.
  [[nodiscard]] const std::string& broken() const { return broken_; }
  void distrust(std::string why) { broken_ = std::move(why); }

  /// @error exhausted: there is not that much.
  base::Result<DeviceMemory> allocate(std::size_t bytes);
  base::Result<DeviceModule> load(const std::string& cubin);
  base::Result<void> copy_in(DevicePointer to, std::span<const std::byte> bytes);
  base::Result<void> copy_out(std::span<std::byte> bytes, DevicePointer from);
  base::Result<void> launch(const LaunchConfig& config, CudaFunction* function, void** parameters,
                            const std::string& name);
  base::Result<void> record(CudaEvent* event);
  /// Waits until everything before the event is done. @error timed_out: it was not in time, and the device is lost to
  /// this process; internal: the device failed, with CUDA's words. `busy`: when it was last seen not to be done.
  base::Result<void> await(CudaEvent* event, std::chrono::nanoseconds limit,
                           std::chrono::steady_clock::time_point* busy = nullptr);
  /// Waits for everything asked so far.
  base::Result<void> finish(std::chrono::nanoseconds limit);
  /// Waits in the driver, for however long it takes: there, and nowhere else, compute-sanitizer looks at what it noted.
  base::Result<void> synchronize();
  base::Result<CudaEvent*> new_event();
  /// As Driver::check; what is not the request's fault breaks the device.
  base::Result<void> checked(CudaCode code, const std::string& what);

 private:
  Device(const Driver& driver, const std::string& management) : driver_(driver), neighbours_(management) {}
  base::Result<void> begin(int ordinal);
  void read_facts(int device);

  Driver driver_;
  DeviceFacts facts_;
  Neighbours neighbours_;
  CudaContext* context_ = nullptr;
  std::unique_ptr<AddressSpace> space_;
  CudaStream* stream_ = nullptr;
  CudaEvent* done_ = nullptr;
  std::string broken_;
};

}  // namespace accelopt::devices::cuda
