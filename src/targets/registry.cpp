// SPDX-License-Identifier: Apache-2.0
#include "targets/registry.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "pytorch/reference.hpp"
#include "targets/cpu/cpu_target.hpp"
#include "targets/cpu/description.hpp"
#include "targets/cpu/doctor.hpp"
#include "targets/cpu/reference.hpp"
#include "targets/cuda/cuda_target.hpp"
#include "targets/cuda/description.hpp"
#include "targets/cuda/doctor.hpp"
#include "targets/trainium/constants.hpp"
#include "targets/trainium/description.hpp"
#include "targets/trainium/doctor.hpp"
#include "targets/trainium/neuron_target.hpp"
#include "targets/trainium/trainium_target.hpp"
#include "targets/triton/builder.hpp"
#include "targets/triton/description.hpp"
#include "targets/triton/doctor.hpp"
#include "targets/triton/interpreter_target.hpp"

namespace accelopt::targets {
namespace {

/// Processes that capture, each with Triton loaded (300 MiB) and compilers of its own.
constexpr std::size_t kMostCapturing = 8;

/// With the compilers on the PATH.
cpu::CpuOptions cpu_options(const Making& making) {
  cpu::CpuOptions options;
  options.cache = making.cache;
  if (const auto path = making.environment.find("PATH"); path != making.environment.end())
    options.search_path = path->second;
  return options;
}

std::unique_ptr<evaluation::Target> make_cpu(const Making& making) {
  cpu::CpuOptions options = cpu_options(making);
  options.device = making.device;
  options.compiler = making.compiler;
  return cpu::make_cpu_target(options);
}

triton::CaptureOptions capture_options(const Making& making) {
  triton::CaptureOptions options;
  options.python.environment = making.environment;
  return options;
}

/// Runs the reference of a task of another target, on this machine's processor.
auto host_reference(const Making& making) {
  return [host = cpu_options(making), environment = making.environment](
             const model::Task& task, evaluation::DeviceUse& use,
             const std::stop_token& stop) -> base::Result<evaluation::HostReference> {
    if (task.reference.name.ends_with(".py")) {
      TRY(cpu::check_reference_memory(task));
      TRY_ASSIGN(auto reference, pytorch::make_reference(task, {.python = {environment}}, stop));
      return cpu::while_nobody_measures(std::move(reference), use);
    }
    return cpu::make_cpu_reference(task, host, use, stop);
  };
}

std::unique_ptr<evaluation::Target> make_cuda(const Making& making) {
  cuda::CudaOptions options;
  options.device = making.number.value_or(0);
  options.cache = making.cache;
  options.build.nvrtc = making.compiler;
  options.build.cache = making.cache;
  options.build.environment = making.environment;
  options.make_host_reference = host_reference(making);
  options.builders[triton::description().name] =
      [capture = capture_options(making)](
          const model::Task& task, const cuda::CudaBuildOptions& build,
          const std::stop_token& stop) -> base::Result<std::unique_ptr<cuda::CudaBuilder>> {
    triton::CaptureOptions own = capture;
    own.limits = build.limits;
    own.cores = build.cores;
    own.servers = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, kMostCapturing);
    return triton::make_triton_builder(
        task, std::move(own), [task, build] { return cuda::make_cuda_builder(task, build, {}); }, stop);
  };
  return cuda::make_cuda_target(options);
}

std::unique_ptr<evaluation::Target> make_trainium(const Making& making) {
  trainium::TrainiumOptions options{making.device, {making.environment}, host_reference(making)};
  if (const auto file = making.environment.find(trainium::kConstantsVariable); file != making.environment.end())
    options.constants = file->second;
  if (!making.device.starts_with(trainium::description().hardware))
    return trainium::make_trainium_target(std::move(options));
  trainium::NeuronOptions device;
  device.core = making.number.value_or(0);
  device.python.environment = making.environment;
  return trainium::make_neuron_target(std::move(options), std::move(device));
}

std::unique_ptr<evaluation::Target> make_interpreter(const Making& making) {
  return triton::make_interpreter_target({capture_options(making), host_reference(making)});
}

}  // namespace

std::span<const Entry> registry() {
  static const std::array<Entry, 4> kEntries{
      {{cpu::description(), {"PATH"}, make_cpu, cpu::examine, ""},
       {cuda::description(),
        {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "VIRTUAL_ENV",
         "HOME", "PATH", "ACCELOPT_NCU", "ACCELOPT_COMPUTE_SANITIZER", "ACCELOPT_NVDISASM"},
        make_cuda,
        cuda::examine,
        "cuda"},
       {triton::description(), {"ACCELOPT_PYTHON", "VIRTUAL_ENV", "PATH"}, make_interpreter, triton::examine, "triton"},
       {trainium::description(),
        {"ACCELOPT_PYTHON", "VIRTUAL_ENV", "PATH", "LD_LIBRARY_PATH", trainium::kConstantsVariable},
        make_trainium,
        trainium::examine,
        "trainium"}}};
  return kEntries;
}

const Entry* find_entry(std::string_view name) {
  const auto all = registry();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.description.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace accelopt::targets
