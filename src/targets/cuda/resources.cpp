// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/resources.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "syntax/diagnostic_text.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

using devices::cuda::CubinKernel;
using devices::cuda::DeviceLimits;
using devices::cuda::KernelResources;

constexpr int kMostStaticSharedBytes = 49152;  ///< more must be dynamic

/// The number before the words; none where they do not stand in the line.
std::optional<int> number_before(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  const auto [end, failure] = std::from_chars(line.data() + begin, line.data() + at, value);
  if (failure != std::errc{} || end != line.data() + at) return std::nullopt;
  return value;
}

/// What stands between two words of the line.
std::string_view between(std::string_view line, std::string_view before, std::string_view behind) {
  const auto begin = line.find(before);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin + before.size());
  return line.substr(0, behind.empty() ? line.size() : line.find(behind));
}

KernelResources& resources_of(std::string_view name, std::vector<KernelResources>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.kernel == name; });
  if (found != all.end()) return *found;
  all.push_back({});
  all.back().kernel = name;
  return all.back();
}

std::int64_t threads_of(const model::KernelLaunch& launch) {
  return std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

std::string list_of(const std::array<std::uint32_t, 3>& extents) {
  return std::to_string(extents[0]) + ", " + std::to_string(extents[1]) + ", " + std::to_string(extents[2]);
}

/// Bytes that args give a parameter, and what it is called in C++.
struct Given {
  std::uint32_t bytes = 8;
  std::string type;
};

Given given_by(const model::LaunchArgument& argument, const model::Definition& definition) {
  using Kind = model::LaunchArgument::Kind;
  if (argument.kind == Kind::tensor_map) return {128, "const __grid_constant__ CUtensorMap"};
  if (argument.kind == Kind::axis) return {8, "int64_t"};
  if (argument.kind == Kind::input && !definition.inputs[argument.index].shape) {
    const model::DType dtype = definition.inputs[argument.index].dtype;
    return {static_cast<std::uint32_t>(model::size_of(dtype)), std::string(device_type(dtype))};
  }
  return {8, "a pointer"};
}

std::optional<std::string> refused_parameters(const model::KernelLaunch& launch, const CubinKernel& kernel,
                                              const model::Definition& definition) {
  if (kernel.parameters.size() != launch.arguments.size()) {
    return launch.kernel + " has " + std::to_string(kernel.parameters.size()) + " parameters, and args has " +
           std::to_string(launch.arguments.size()) + " names";
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Given given = given_by(launch.arguments[i], definition);
    const std::uint32_t size = kernel.parameters[i].size;
    // An axis may be an int where its value fits: the lower half is what is copied.
    const bool narrow_axis = launch.arguments[i].kind == model::LaunchArgument::Kind::axis && size == 4 &&
                             launch.arguments[i].value <= std::numeric_limits<std::int32_t>::max();
    if (size == given.bytes || narrow_axis) continue;
    return "parameter " + std::to_string(i + 1) + " of " + launch.kernel + " has " + std::to_string(size) +
           " bytes, and args gives it " + std::to_string(given.bytes) + ": declare it as " + given.type;
  }
  return std::nullopt;
}

std::optional<std::string> refused_threads(const model::KernelLaunch& launch, const KernelResources& resources,
                                           const CubinKernel& kernel, const DeviceLimits& limits) {
  const std::int64_t threads = threads_of(launch);
  const std::string block = "a block of " + std::to_string(threads) + " threads";
  if (threads > limits.threads_per_block)
    return block + "; the device takes " + std::to_string(limits.threads_per_block);
  if (resources.max_threads > 0 && threads > resources.max_threads) {
    return block + ", and " + launch.kernel + " is compiled for at most " + std::to_string(resources.max_threads) +
           " (__launch_bounds__)";
  }
  if (kernel.required_threads[0] != 0 && kernel.required_threads != launch.block) {
    return "the block is (" + list_of(launch.block) + "), and " + launch.kernel + " is compiled for (" +
           list_of(kernel.required_threads) + ")";
  }
  const std::int64_t registers = devices::cuda::registers_of_block(resources, threads);
  if (registers <= limits.registers_per_block) return std::nullopt;
  return block + " needs " + std::to_string(registers) + " registers (" + std::to_string(resources.registers) +
         " a thread), and a block has " + std::to_string(limits.registers_per_block) + "; write __launch_bounds__(" +
         std::to_string(threads) + ") or use a smaller block";
}

std::optional<std::string> refused_memory(const model::KernelLaunch& launch, const KernelResources& resources,
                                          const DeviceLimits& limits) {
  if (resources.static_shared_bytes > kMostStaticSharedBytes) {
    return launch.kernel + " has " + std::to_string(resources.static_shared_bytes) +
           " bytes of static shared memory, and 49152 are possible; declare extern __shared__ and give it with smem=";
  }
  const std::int64_t shared = std::int64_t{resources.static_shared_bytes} + launch.shared_bytes;
  if (shared <= limits.shared_bytes_per_block) return std::nullopt;
  return launch.kernel + " needs " + std::to_string(shared) + " bytes of shared memory (" +
         std::to_string(resources.static_shared_bytes) + " static, " + std::to_string(launch.shared_bytes) +
         " by smem), and a block has " + std::to_string(limits.shared_bytes_per_block);
}

std::optional<std::string> refused_cluster(const model::KernelLaunch& launch, const CubinKernel& kernel) {
  if (kernel.cluster[0] == 0 || kernel.cluster == launch.cluster) return std::nullopt;
  return launch.kernel + " is compiled for clusters of (" + list_of(kernel.cluster) +
         ") (__cluster_dims__); give its launch the same cluster=, or leave __cluster_dims__ out";
}

}  // namespace

std::vector<KernelResources> parse_resources(std::string_view log) {
  std::vector<KernelResources> out;
  std::string entry;      // whose registers come
  std::string described;  // whose stack comes
  for (const std::string_view line : syntax::lines_of(log)) {
    if (!line.starts_with("ptxas ")) continue;  // the candidate's own lines stand in the log too
    if (const auto name = between(line, "Compiling entry function '", "'"); !name.empty()) {
      entry = name;
      described = name;
    } else if (const auto function = between(line, "Function properties for ", ""); !function.empty()) {
      described = function;
    } else if (const auto stack = number_before(line, " bytes stack frame"); stack && !described.empty()) {
      KernelResources& resources = resources_of(described, out);
      resources.stack_bytes = *stack;
      resources.spill_bytes = number_before(line, " bytes spill stores").value_or(0) +
                              number_before(line, " bytes spill loads").value_or(0);
    } else if (const auto registers = number_before(line, " registers"); registers && !entry.empty()) {
      KernelResources& resources = resources_of(entry, out);
      resources.registers = *registers;
      resources.static_shared_bytes = number_before(line, " bytes smem").value_or(0);
    }
  }
  return out;
}

std::optional<std::string> refused_launch(const model::KernelLaunch& launch, const KernelResources& resources,
                                          const CubinKernel& kernel, const model::Definition& definition,
                                          const DeviceLimits& limits) {
  if (auto reason = refused_parameters(launch, kernel, definition)) return reason;
  if (auto reason = refused_threads(launch, resources, kernel, limits)) return reason;
  if (auto reason = refused_memory(launch, resources, limits)) return reason;
  return refused_cluster(launch, kernel);
}

}  // namespace accelopt::targets::cuda
