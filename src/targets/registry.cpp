// SPDX-License-Identifier: Apache-2.0
#include "targets/registry.hpp"

#include <algorithm>
#include <array>

#include "targets/cpu/cpu_target.hpp"
#include "targets/cpu/description.hpp"
#include "targets/cpu/doctor.hpp"
#include "targets/cpu/reference.hpp"
#include "targets/cuda/cuda_target.hpp"
#include "targets/cuda/description.hpp"
#include "targets/cuda/doctor.hpp"

namespace accelopt::targets {
namespace {

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

std::unique_ptr<evaluation::Target> make_cuda(const Making& making) {
  cuda::CudaOptions options;
  options.device = making.number.value_or(0);
  options.cache = making.cache;
  options.build.nvrtc = making.compiler;
  options.build.cache = making.cache;
  options.build.environment = making.environment;
  options.make_host_reference = [host = cpu_options(making)](const model::Task& task, evaluation::DeviceUse& use,
                                                             const std::stop_token& stop) {
    return cpu::make_cpu_reference(task, host, use, stop);
  };
  return cuda::make_cuda_target(options);
}

}  // namespace

std::span<const Entry> registry() {
  static const std::array<Entry, 2> kEntries{
      {{cpu::description(), {"PATH"}, make_cpu, cpu::examine, ""},
       {cuda::description(),
        {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME", "PATH", "ACCELOPT_NCU",
         "ACCELOPT_COMPUTE_SANITIZER", "ACCELOPT_NVDISASM"},
        make_cuda,
        cuda::examine,
        "cuda"}}};
  return kEntries;
}

const Entry* find_entry(std::string_view name) {
  const auto all = registry();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.description.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace accelopt::targets
