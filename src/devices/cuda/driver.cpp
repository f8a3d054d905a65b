// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/driver.hpp"

#include <dlfcn.h>

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;

/// Finds functions by name and remembers the first that is not there.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

std::string fill(void* library, DriverTable& table) {
  Symbols symbols(library);
  symbols.find("cuInit", table.init);
  symbols.find("cuDriverGetVersion", table.driver_version);
  symbols.find("cuGetErrorName", table.error_name);
  symbols.find("cuGetErrorString", table.error_text);
  symbols.find("cuDeviceGetCount", table.device_count);
  symbols.find("cuDeviceGet", table.device_get);
  symbols.find("cuDeviceGetName", table.device_name);
  symbols.find("cuDeviceGetUuid_v2", table.device_uuid);
  symbols.find("cuDeviceTotalMem_v2", table.device_memory);
  symbols.find("cuDeviceGetAttribute", table.device_attribute);
  symbols.find("cuDevicePrimaryCtxRetain", table.retain_context);
  symbols.find("cuDevicePrimaryCtxSetFlags_v2", table.context_flags);
  symbols.find("cuCtxSetCurrent", table.set_context);
  symbols.find("cuCtxSetLimit", table.set_limit);
  symbols.find("cuCtxResetPersistingL2Cache", table.reset_persisting);
  symbols.find("cuMemGetInfo_v2", table.memory_info);
  symbols.find("cuMemAlloc_v2", table.allocate);
  symbols.find("cuMemFree_v2", table.release);
  symbols.find("cuMemGetAllocationGranularity", table.granularity);
  symbols.find("cuMemAddressReserve", table.reserve);
  symbols.find("cuMemCreate", table.create);
  symbols.find("cuMemRelease", table.release_handle);
  symbols.find("cuMemMap", table.map);
  symbols.find("cuMemUnmap", table.unmap);
  symbols.find("cuMemSetAccess", table.set_access);
  symbols.find("cuMemHostAlloc", table.host_allocate);
  symbols.find("cuMemHostGetDevicePointer_v2", table.host_pointer);
  symbols.find("cuMemcpyHtoDAsync_v2", table.copy_in);
  symbols.find("cuMemcpyDtoHAsync_v2", table.copy_out);
  symbols.find("cuModuleLoadData", table.load_module);
  symbols.find("cuModuleUnload", table.unload_module);
  symbols.find("cuModuleGetFunction", table.get_function);
  symbols.find("cuModuleGetGlobal_v2", table.get_global);
  symbols.find("cuFuncGetAttribute", table.function_attribute);
  symbols.find("cuFuncSetAttribute", table.set_function_attribute);
  symbols.find("cuOccupancyMaxActiveBlocksPerMultiprocessor", table.active_blocks);
  symbols.find("cuStreamCreate", table.create_stream);
  symbols.find("cuStreamSynchronize", table.synchronize);
  symbols.find("cuEventCreate", table.create_event);
  symbols.find("cuEventRecord", table.record);
  symbols.find("cuEventQuery", table.query);
  symbols.find("cuEventElapsedTime", table.elapsed);
  symbols.find("cuLaunchKernelEx", table.launch);
  symbols.find("cuTensorMapEncodeTiled", table.encode_tensor_map);
  table.parameter_info = reinterpret_cast<decltype(table.parameter_info)>(dlsym(library, "cuFuncGetParamInfo"));
  table.start_profiler = reinterpret_cast<decltype(table.start_profiler)>(dlsym(library, "cuProfilerStart"));
  table.stop_profiler = reinterpret_cast<decltype(table.stop_profiler)>(dlsym(library, "cuProfilerStop"));
  return symbols.missing();
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

base::Result<Driver> Driver::load(const std::string& library) {
  const std::string name = library.empty() ? "libcuda.so.1" : library;
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): one thread loads
    return base::fail(ErrorCode::unsupported, "no CUDA driver: " + std::string(why == nullptr ? name : why) +
                                                  "; install NVIDIA's driver (530 or newer), or measure elsewhere "
                                                  "with --worker");
  }
  Driver driver;
  const std::string missing = fill(handle, driver.table_);
  if (!missing.empty()) {
    return base::fail(ErrorCode::unsupported,
                      name + " has no " + missing + ": this CUDA driver is too old; install 530 or newer");
  }
  if (driver->driver_version(&driver.version_) != 0 || driver.version_ < kLeastDriverVersion) {
    return base::fail(ErrorCode::unsupported, name + " is of CUDA " + version_text(driver.version_) +
                                                  "; at least 12.0 is needed: install driver 530 or newer");
  }
  if (const CudaCode code = driver->init(0); code != 0)
    return base::fail(ErrorCode::unsupported, "the CUDA driver does not start: " + driver.text_of(code));
  return driver;
}

std::string Driver::text_of(CudaCode code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (table_.error_name(code, &name) != 0 || name == nullptr) return "CUDA error " + std::to_string(code);
  if (table_.error_text(code, &text) != 0 || text == nullptr) return name;
  return std::string(name) + ": " + text;
}

base::Result<void> Driver::check(CudaCode code, const std::string& what) const {
  if (code == 0) return {};
  return base::fail(code == kCudaOutOfMemory ? ErrorCode::exhausted : ErrorCode::internal, what + ": " + text_of(code));
}

}  // namespace accelopt::devices::cuda
