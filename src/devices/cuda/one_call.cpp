// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/one_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/prepared_plan.hpp"
#include "devices/cuda/protocol.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;

/// The bulk bytes behind the request's line.
class OneCallBytes {
 public:
  explicit OneCallBytes(std::string_view bytes) : left_(bytes) {}
  base::Result<std::string_view> take(std::uint64_t bytes) {
    if (bytes > left_.size()) return base::fail(ErrorCode::invalid_argument, "the file of the call is cut short");
    const std::string_view out = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return out;
  }

 private:
  std::string_view left_;
};

constexpr int kGivenUp = 4;  ///< exit code: nobody waits for the call

/// Ends this process when the lock that somebody holds on the file is let go, which the operating system does for the
/// dead too. A thread waits for it: tools run this process, and its parent says nothing of who wants the call.
void end_when_given_up(const std::string& file) {
  base::FileDescriptor watched(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!watched.valid() || flock(watched.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  try {
    std::thread([watched = std::move(watched)] {
      while (flock(watched.get(), LOCK_SH) != 0) {
        if (errno != EINTR) return;
      }
      _exit(kGivenUp);
    }).detach();
  } catch (const std::system_error&) {
    // Without a thread there is the alarm.
  }
}

/// A copy that is there when the process ends: compute-sanitizer reads the images of modules up to then, and is killed
/// by what it finds where one is gone.
const std::string& to_the_end(std::string_view image) {
  static std::deque<std::string> kept;
  return kept.emplace_back(image);
}

/// The tensors of the call; nothing else lies in their memory.
class OneCallTensors {
 public:
  OneCallTensors(Device& device, Layout layout) : device_(device), layout_(layout) {}
  base::Result<DevicePointer> add(std::uint64_t bytes) {
    if (layout_ == Layout::exact) {
      TRY_ASSIGN(DeviceMemory one, device_.allocate(std::max<std::uint64_t>(bytes, 1)));
      return allocated_.emplace_back(std::move(one)).address();
    }
    TRY_ASSIGN(PhysicalMemory memory, device_.space().create(bytes));
    const Placement placement = draw_placement(bytes, memory.bytes());
    TRY_ASSIGN(Mapping mapping, device_.space().map(memory, Access::write));
    memory_.push_back(std::move(memory));
    return mapped_.emplace_back(std::move(mapping)).address() + placement.offset;
  }
  /// Where calls are timed, what is there until now may be read alone.
  base::Result<void> seal() {
    for (Mapping& mapping : mapped_) TRY(mapping.allow(Access::read));
    return {};
  }
  PlanBinding binding;

 private:
  Device& device_;
  Layout layout_;
  std::vector<DeviceMemory> allocated_;  ///< each of exactly a tensor's size
  std::vector<PhysicalMemory> memory_;   ///< or as where calls are timed
  std::vector<Mapping> mapped_;
};

base::Result<void> add_inputs(Device& device, Checks& checks, const OneCallRequest& request, OneCallBytes& bulk,
                              OneCallTensors& tensors) {
  for (const SlotInput& input : request.inputs) {
    if (input.scalar) {
      tensors.binding.scalars[input.name] = {input.dtype, input.scalar_bits};
      continue;
    }
    const std::uint64_t bytes = input.count * model::size_of(input.dtype);
    TRY_ASSIGN(const DevicePointer address, tensors.add(bytes));
    if (input.bulk) {
      TRY_ASSIGN(const std::string_view drawn, bulk.take(bytes));
      TRY(device.copy_in(address, std::as_bytes(std::span(drawn))));
    } else {
      TRY(checks.draw(address, input));
    }
    tensors.binding.tensors[input.name] = {address, bytes};
  }
  TRY(device.finish(std::chrono::seconds(request.limit_seconds)));
  return tensors.seal();
}

base::Result<void> add_results(Checks& checks, const OneCallRequest& request, OneCallTensors& tensors) {
  std::size_t added = 0;
  const auto add = [&](const std::string& name, std::uint64_t bytes, model::DType dtype) -> base::Result<void> {
    TRY_ASSIGN(const DevicePointer address, tensors.add(bytes));
    tensors.binding.tensors[name] = {address, bytes};
    if (!request.poison) return {};
    return checks.poison(address, bytes, dtype, base::derive_seed(request.poison_seed, std::to_string(++added)));
  };
  for (const SlotOutput& output : request.outputs)
    TRY(add(output.name, output.count * model::size_of(output.dtype), output.dtype));
  for (const ScratchBuffer& scratch : request.plan.scratch) TRY(add(scratch.name, scratch.bytes, scratch.dtype));
  return {};
}

/// The calls, each between the driver's marks for profilers.
base::Result<void> launch_marked(Device& device, Checks& checks, const OneCallRequest& request, PreparedPlan& plan) {
  const std::chrono::seconds limit(request.limit_seconds);
  const Driver& driver = device.driver();
  for (int i = 0; i < request.times; ++i) {
    TRY(plan.clear(checks));
    TRY(device.finish(limit));
    if (driver->start_profiler != nullptr) TRY(device.checked(driver->start_profiler(), "starting the profiler"));
    TRY(plan.launch_kernels(device));
    TRY(device.finish(limit));
    TRY(device.synchronize());
    if (driver->stop_profiler != nullptr) TRY(device.checked(driver->stop_profiler(), "stopping the profiler"));
  }
  return {};
}

base::Result<void> write_outputs(Device& device, const OneCallRequest& request, const OneCallTensors& tensors,
                                 const std::string& file) {
  std::string all;
  for (const SlotOutput& output : request.outputs) {
    const auto& [address, bytes] = tensors.binding.tensors.at(output.name);
    std::string one(bytes, '\0');
    TRY(device.copy_out(std::as_writable_bytes(std::span(one)), address));
    all += one;
  }
  return base::write_file(file, all);
}

}  // namespace

base::Result<void> carry_out_one_call(const std::string& file) {
  end_when_given_up(file);
  TRY_ASSIGN(const std::string text, base::read_file(file));
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return base::fail(ErrorCode::invalid_argument, "the file of the call has no request");
  TRY_ASSIGN(const base::Json json, base::parse_json(text.substr(0, line), "the call's request"));
  TRY_ASSIGN(const auto request, base::decode<OneCallRequest>(json, "the call's request"));
  alarm(static_cast<unsigned>(std::max(request.limit_seconds, 1)));
  OneCallBytes bulk(std::string_view(text).substr(line + 1));
  TRY_ASSIGN(const std::string_view check_cubin, bulk.take(request.open.check_bytes));
  TRY(check_plan(request.plan, request.cubin_bytes.size()));
  std::vector<std::string_view> cubins;
  for (const std::uint64_t bytes : request.cubin_bytes) {
    TRY_ASSIGN(const std::string_view cubin, bulk.take(bytes));
    cubins.push_back(cubin);
  }
  TRY_ASSIGN(const auto device, Device::open(request.open.device, request.open.driver, request.open.management));
  TRY_ASSIGN(const auto checks, Checks::create(*device, to_the_end(check_cubin)));
  OneCallTensors tensors(*device, request.layout);
  TRY(add_inputs(*device, *checks, request, bulk, tensors));
  TRY(add_results(*checks, request, tensors));
  Modules modules;
  for (const std::string_view cubin : cubins) {
    TRY_ASSIGN(DeviceModule module, device->load(to_the_end(cubin)));
    modules.push_back(std::move(module));
  }
  TRY_ASSIGN(PreparedPlan plan, PreparedPlan::prepare(*device, {modules, request.plan}, tensors.binding));
  TRY(launch_marked(*device, *checks, request, plan));
  return request.keep_outputs ? write_outputs(*device, request, tensors, file + kOutputsSuffix) : base::Result<void>();
}

}  // namespace accelopt::devices::cuda
