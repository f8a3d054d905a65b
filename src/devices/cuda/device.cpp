// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/device.hpp"

#include <fmt/format.h>

#include <thread>

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using Clock = std::chrono::steady_clock;

// Numbers of the driver's interface.
constexpr unsigned kSpinWhileWaiting = 1;
constexpr unsigned kNoImplicitOrder = 1;
constexpr int kPrintfBufferLimit = 1;
constexpr int kHeapLimit = 2;
constexpr int kPersistingLimit = 6;

/// Longer calls need no busy watching.
constexpr std::chrono::milliseconds kWatchClosely{20};
constexpr std::chrono::microseconds kNap{100};

}  // namespace

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : driver_(other.driver_), address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this != &other) {
    reset();
    driver_ = other.driver_;
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void DeviceMemory::reset() {
  if (address_ != 0) (*driver_)->release(address_);
  address_ = 0;
  bytes_ = 0;
}

DeviceModule::~DeviceModule() {
  if (module_ != nullptr) (*driver_)->unload_module(module_);
}

base::Result<CudaFunction*> DeviceModule::function(const std::string& name) const {
  CudaFunction* out = nullptr;
  if (const CudaCode code = (*driver_)->get_function(&out, module_, name.c_str()); code != 0)
    return base::fail(ErrorCode::invalid_argument, "kernel " + name + ": " + driver_->text_of(code));
  return out;
}

base::Result<DeviceModule::Variable> DeviceModule::variable(const std::string& name) const {
  Variable out;
  if (const CudaCode code = (*driver_)->get_global(&out.address, &out.bytes, module_, name.c_str()); code != 0)
    return base::fail(ErrorCode::invalid_argument, driver_->text_of(code));
  return out;
}

base::Result<std::unique_ptr<Device>> Device::open(int ordinal, const std::string& library,
                                                   const std::string& management) {
  TRY_ASSIGN(const Driver driver, Driver::load(library));
  std::unique_ptr<Device> out(new Device(driver, management));
  TRY(out->begin(ordinal));
  return out;
}

base::Result<void> Device::begin(int ordinal) {
  int count = 0;
  TRY(driver_.check(driver_->device_count(&count), "counting CUDA devices"));
  if (ordinal < 0 || ordinal >= count) {
    return base::fail(ErrorCode::unsupported,
                      fmt::format("there is no device cuda:{}; this machine has {} (cuda:0 is the first)", ordinal,
                                  count == 1 ? "one CUDA device" : std::to_string(count) + " CUDA devices"));
  }
  int device = 0;
  TRY(driver_.check(driver_->device_get(&device, ordinal), "opening the device"));
  read_facts(device);
  if (facts_.compute_major < kLeastComputeMajor) {
    return base::fail(ErrorCode::unsupported,
                      fmt::format("{} is of compute capability {}.{}; at least {}.0 is needed", facts_.name,
                                  facts_.compute_major, facts_.compute_minor, kLeastComputeMajor));
  }
  neighbours_.settle(facts_.uuid);
  driver_->context_flags(device, kSpinWhileWaiting);
  TRY(driver_.check(driver_->retain_context(&context_, device), "making a context on " + facts_.name));
  TRY(driver_.check(driver_->set_context(context_), "making a context on " + facts_.name));
  TRY_ASSIGN(space_, AddressSpace::reserve(driver_, device));
  // A kernel that prints or allocates without end fills nothing of ours. Not every driver lets go of all of it.
  driver_->set_limit(kPrintfBufferLimit, std::size_t{1} << 16);
  driver_->set_limit(kHeapLimit, std::size_t{1} << 20);
  driver_->set_limit(kPersistingLimit, 0);
  TRY(driver_.check(driver_->create_stream(&stream_, kNoImplicitOrder), "making a stream"));
  TRY_ASSIGN(done_, new_event());
  neighbours_.settle(facts_.uuid);
  facts_.unseen = neighbours_.unseen();
  return {};
}

void Device::read_facts(int device) {
  std::array<char, 256> name{};
  driver_->device_name(name.data(), static_cast<int>(name.size()) - 1, device);
  facts_.name = name.data();
  std::array<unsigned char, 16> uuid{};
  driver_->device_uuid(uuid.data(), device);
  for (const unsigned char byte : uuid) facts_.uuid += fmt::format("{:02x}", byte);
  facts_.driver_version = driver_.version();
  std::size_t memory = 0;
  driver_->device_memory(&memory, device);
  facts_.memory_bytes = memory;
  const auto read = [&](int attribute, int& value) { driver_->device_attribute(&value, attribute, device); };
  read(16, facts_.multiprocessors);
  read(38, facts_.l2_bytes);
  read(kComputeMajorAttribute, facts_.compute_major);
  read(kComputeMinorAttribute, facts_.compute_minor);
  read(97, facts_.shared_bytes_per_block);
  read(81, facts_.shared_bytes_per_multiprocessor);
  read(12, facts_.registers_per_block);
  read(82, facts_.registers_per_multiprocessor);
  read(1, facts_.threads_per_block);
  read(39, facts_.threads_per_multiprocessor);
}

base::Result<void> Device::checked(CudaCode code, const std::string& what) {
  auto result = driver_.check(code, what);
  if (!result && result.error().code != ErrorCode::exhausted) broken_ = driver_.text_of(code);
  return result;
}

base::Result<DeviceMemory> Device::allocate(std::size_t bytes) {
  DevicePointer address = 0;
  TRY(checked(driver_->allocate(&address, bytes), fmt::format("allocating {} MiB of device memory", bytes >> 20)));
  return DeviceMemory(driver_, address, bytes);
}

base::Result<DeviceModule> Device::load(const std::string& cubin) {
  CudaModule* module = nullptr;
  if (const CudaCode code = driver_->load_module(&module, cubin.data()); code != 0)
    return base::fail(ErrorCode::invalid_argument, "the machine code does not load: " + driver_.text_of(code));
  return DeviceModule(driver_, module);
}

base::Result<void> Device::copy_in(DevicePointer to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  TRY(checked(driver_->copy_in(to, bytes.data(), bytes.size(), stream_), "copying to the device"));
  return checked(driver_->synchronize(stream_), "copying to the device");
}

base::Result<void> Device::copy_out(std::span<std::byte> bytes, DevicePointer from) {
  if (bytes.empty()) return {};
  TRY(checked(driver_->copy_out(bytes.data(), from, bytes.size(), stream_), "copying from the device"));
  return checked(driver_->synchronize(stream_), "copying from the device");
}

base::Result<void> Device::launch(const LaunchConfig& config, CudaFunction* function, void** parameters,
                                  const std::string& name) {
  return driver_.check(driver_->launch(&config, function, parameters, nullptr), "launching " + name);
}

base::Result<void> Device::record(CudaEvent* event) {
  return checked(driver_->record(event, stream_), "recording an event");
}

base::Result<void> Device::await(CudaEvent* event, std::chrono::nanoseconds limit, Clock::time_point* busy) {
  const auto began = Clock::now();
  for (;;) {
    const auto asked = Clock::now();
    const CudaCode code = driver_->query(event);
    if (code == 0) return {};
    if (code != kCudaNotReady) return checked(code, "running on the device");
    if (busy != nullptr) *busy = asked;
    const auto waited = Clock::now() - began;
    if (waited > limit) {
      broken_ = "did not return";
      return base::fail(kHung, "did not return");
    }
    if (waited > kWatchClosely) std::this_thread::sleep_for(kNap);
  }
}

base::Result<void> Device::finish(std::chrono::nanoseconds limit) {
  TRY(record(done_));
  return await(done_, limit);
}

base::Result<void> Device::synchronize() {
  return checked(driver_->synchronize(stream_), "waiting for the device");
}

base::Result<CudaEvent*> Device::new_event() {
  CudaEvent* out = nullptr;
  TRY(checked(driver_->create_event(&out, 0), "making an event"));
  return out;
}

}  // namespace accelopt::devices::cuda
