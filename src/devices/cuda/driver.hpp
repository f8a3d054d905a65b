// SPDX-License-Identifier: Apache-2.0
// The CUDA driver's functions that are used here, loaded at run time: nothing of CUDA is needed to build accelopt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace accelopt::devices::cuda {

// Opaque handles and plain numbers of the driver's C interface.
using DevicePointer = std::uint64_t;
using CudaCode = int;  ///< 0: success
struct CudaContext;
struct CudaModule;
struct CudaFunction;
struct CudaStream;
struct CudaEvent;

/// An attribute of a launch: its number and 64 bytes of value.
struct LaunchAttribute {
  std::uint32_t id = 0;
  std::uint32_t padding = 0;
  alignas(8) std::uint32_t value[16] = {};
};
inline constexpr std::uint32_t kCooperative = 2;
inline constexpr std::uint32_t kClusterDimension = 4;
inline constexpr std::uint32_t kClusterPolicy = 5;
inline constexpr std::uint32_t kOverlaps = 6;  ///< programmatic stream serialization

/// How a kernel is launched; laid out as the driver wants it.
struct LaunchConfig {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  CudaStream* stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  std::uint32_t attribute_count = 0;
};

struct alignas(64) EncodedTensorMap {
  std::uint64_t words[16] = {};
};

// Numbers of the interface.
inline constexpr CudaCode kCudaOutOfMemory = 2;
inline constexpr CudaCode kCudaNotReady = 600;
inline constexpr int kLeastDriverVersion = 12000;  ///< clusters and tensor maps
inline constexpr int kLeastComputeMajor = 8;       ///< what is measured at all
inline constexpr int kTriedComputeMajor = 9;       ///< what has been measured: clusters and tensor maps begin here
inline constexpr int kComputeMajorAttribute = 75;
inline constexpr int kComputeMinorAttribute = 76;
inline constexpr int kDynamicShared = 8;       ///< an attribute of a function: how much a launch may ask for
inline constexpr int kMappingAttribute = 102;  ///< whether programs map the device's memory themselves

// Virtual memory management; laid out as the driver wants it.
using MemoryHandle = std::uint64_t;
struct MemoryPlace {
  int type = 1;  ///< a device
  int device = 0;
};
struct MemoryProperties {
  int type = 1;  ///< pinned
  int shared_as = 0;
  MemoryPlace place;
  void* unused = nullptr;
  std::uint64_t flags = 0;
};
struct MemoryAccess {
  MemoryPlace place;
  int allowed = 0;
};
inline constexpr int kReadOnly = 1;
inline constexpr int kReadAndWrite = 3;

/// The functions; each returns a CudaCode.
struct DriverTable {
  CudaCode (*init)(unsigned) = nullptr;
  CudaCode (*driver_version)(int*) = nullptr;
  CudaCode (*error_name)(CudaCode, const char**) = nullptr;
  CudaCode (*error_text)(CudaCode, const char**) = nullptr;
  CudaCode (*device_count)(int*) = nullptr;
  CudaCode (*device_get)(int*, int) = nullptr;
  CudaCode (*device_name)(char*, int, int) = nullptr;
  CudaCode (*device_uuid)(void*, int) = nullptr;
  CudaCode (*device_memory)(std::size_t*, int) = nullptr;
  CudaCode (*device_attribute)(int*, int, int) = nullptr;
  CudaCode (*retain_context)(CudaContext**, int) = nullptr;
  CudaCode (*context_flags)(int, unsigned) = nullptr;
  CudaCode (*set_context)(CudaContext*) = nullptr;
  CudaCode (*set_limit)(int, std::size_t) = nullptr;
  CudaCode (*reset_persisting)() = nullptr;
  CudaCode (*memory_info)(std::size_t*, std::size_t*) = nullptr;
  CudaCode (*allocate)(DevicePointer*, std::size_t) = nullptr;
  CudaCode (*release)(DevicePointer) = nullptr;
  CudaCode (*granularity)(std::size_t*, const MemoryProperties*, int) = nullptr;
  CudaCode (*reserve)(DevicePointer*, std::size_t, std::size_t, DevicePointer, unsigned long long) = nullptr;
  CudaCode (*create)(MemoryHandle*, std::size_t, const MemoryProperties*, unsigned long long) = nullptr;
  CudaCode (*release_handle)(MemoryHandle) = nullptr;
  CudaCode (*map)(DevicePointer, std::size_t, std::size_t, MemoryHandle, unsigned long long) = nullptr;
  CudaCode (*unmap)(DevicePointer, std::size_t) = nullptr;
  CudaCode (*set_access)(DevicePointer, std::size_t, const MemoryAccess*, std::size_t) = nullptr;
  CudaCode (*host_allocate)(void**, std::size_t, unsigned) = nullptr;
  CudaCode (*host_pointer)(DevicePointer*, void*, unsigned) = nullptr;
  CudaCode (*copy_in)(DevicePointer, const void*, std::size_t, CudaStream*) = nullptr;
  CudaCode (*copy_out)(void*, DevicePointer, std::size_t, CudaStream*) = nullptr;
  CudaCode (*load_module)(CudaModule**, const void*) = nullptr;
  CudaCode (*unload_module)(CudaModule*) = nullptr;
  CudaCode (*get_function)(CudaFunction**, CudaModule*, const char*) = nullptr;
  CudaCode (*get_global)(DevicePointer*, std::size_t*, CudaModule*, const char*) = nullptr;
  CudaCode (*function_attribute)(int*, int, CudaFunction*) = nullptr;
  CudaCode (*set_function_attribute)(CudaFunction*, int, int) = nullptr;
  CudaCode (*active_blocks)(int*, CudaFunction*, int, std::size_t) = nullptr;
  CudaCode (*create_stream)(CudaStream**, unsigned) = nullptr;
  CudaCode (*synchronize)(CudaStream*) = nullptr;
  CudaCode (*create_event)(CudaEvent**, unsigned) = nullptr;
  CudaCode (*record)(CudaEvent*, CudaStream*) = nullptr;
  CudaCode (*query)(CudaEvent*) = nullptr;
  CudaCode (*elapsed)(float*, CudaEvent*, CudaEvent*) = nullptr;
  CudaCode (*launch)(const LaunchConfig*, CudaFunction*, void**, void**) = nullptr;
  /// Of CUDA 12.4 on; null before.
  CudaCode (*parameter_info)(CudaFunction*, std::size_t, std::size_t*, std::size_t*) = nullptr;
  /// What a profiler listens for; null where a driver lacks them.
  CudaCode (*start_profiler)() = nullptr;
  CudaCode (*stop_profiler)() = nullptr;
  CudaCode (*encode_tensor_map)(EncodedTensorMap*, int, std::uint32_t, void*, const std::uint64_t*,
                                const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int, int,
                                int) = nullptr;
};

/// The loaded driver.
class Driver {
 public:
  /// Loads `library`, or libcuda.so.1 where it is empty, checks its version and starts it (no context yet).
  /// @error unsupported: there is none, it is too old, or it finds no device; says what to do.
  static base::Result<Driver> load(const std::string& library);

  const DriverTable* operator->() const { return &table_; }
  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  [[nodiscard]] std::string text_of(CudaCode code) const;
  /// @error exhausted: out of device memory; else internal: `what` and CUDA's own words.
  [[nodiscard]] base::Result<void> check(CudaCode code, const std::string& what) const;
  [[nodiscard]] int version() const { return version_; }  ///< 13000: CUDA 13.0

 private:
  DriverTable table_;
  int version_ = 0;
};

}  // namespace accelopt::devices::cuda
