// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/plan_checks.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/dependence.hpp"
#include "targets/cuda/resources.hpp"

namespace accelopt::targets::triton {
namespace {

using capture::Captured;
using capture::Shapes;
using devices::cuda::Argument;
using devices::cuda::Cubin;
using devices::cuda::CubinKernel;
using devices::cuda::DeviceLimits;
using devices::cuda::KernelResources;
using devices::cuda::Launch;

constexpr std::uint32_t kPointerBytes = 8;
constexpr std::uint32_t kTensorMapBytes = 128;

std::uint32_t bytes_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::tensor) return kPointerBytes;
  if (argument.kind == Argument::Kind::tensor_map) return kTensorMapBytes;
  return static_cast<std::uint32_t>(model::size_of(argument.dtype));
}

std::uint64_t product(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

/// Why the device would not take the launch, or should not; else "".
std::string refused(const Launch& launch, const CubinKernel& kernel, const KernelResources& resources,
                    const DeviceLimits& limits) {
  if (kernel.parameters.size() != launch.arguments.size())
    return fmt::format("{} has {} parameters, and is given {}", launch.kernel, kernel.parameters.size(),
                       launch.arguments.size());
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::uint32_t given = bytes_of(launch.arguments[i]);
    if (kernel.parameters[i].size != given)
      return fmt::format("parameter {} of {} has {} bytes, and is given {}", i + 1, launch.kernel,
                         kernel.parameters[i].size, given);
  }
  const auto threads = product(launch.block);
  if (threads > static_cast<std::uint64_t>(limits.threads_per_block))
    return fmt::format("{} is launched with {} threads a block; the device takes {}", launch.kernel, threads,
                       limits.threads_per_block);
  const auto registers = devices::cuda::registers_of_block(resources, static_cast<std::int64_t>(threads));
  if (registers > limits.registers_per_block)
    return fmt::format("a block of {} needs {} registers, and has {}: use smaller tiles or fewer warps", launch.kernel,
                       registers, limits.registers_per_block);
  const std::int64_t shared = std::int64_t{resources.static_shared_bytes} + launch.shared_bytes;
  if (shared > limits.shared_bytes_per_block)
    return fmt::format("{} needs {} bytes of shared memory, and a block has {}: use smaller tiles or fewer stages",
                       launch.kernel, shared, limits.shared_bytes_per_block);
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535)
    return fmt::format("{} is launched on a grid of ({}, {}, {}); its second and third extent may be 65535 at most",
                       launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2]);
  return {};
}

/// What the machine code may not do, whoever compiled it; else "".
std::string refused(const Cubin& cubin) {
  for (const std::string& name : cubin.missing) {
    if (name == "vprintf") return "tl.device_print prints while the clock runs, which is refused";
    if (name == "__assertfail") return "tl.device_assert ends the program, which is refused";
    return "the function " + name + " is called, and there is none";
  }
  return {};
}

/// Everything of a plan that decides what runs, for a hash.
std::string identity_of(const devices::cuda::LaunchPlan& plan) {
  std::string out;
  for (const devices::cuda::ScratchBuffer& buffer : plan.scratch)
    out += fmt::format("scratch {} {} {} {}\n", buffer.name, static_cast<int>(buffer.dtype), buffer.bytes, buffer.zero);
  for (const devices::cuda::TensorMap& map : plan.tensor_maps)
    out += fmt::format("map {} {} {} {} {} {} {} {} {}\n", map.name, map.tensor, map.offset,
                       static_cast<int>(map.dtype), fmt::join(map.shape, ","), fmt::join(map.box, ","),
                       fmt::join(map.strides, ","), map.swizzle_bytes, map.nan_fill);
  for (const Launch& launch : plan.launches) {
    out += fmt::format("launch {} {} {} {} {}", launch.cubin, launch.kernel, launch.shared_bytes, launch.cooperative,
                       launch.overlaps);
    for (const auto* extents : {&launch.grid, &launch.block, &launch.cluster})
      out += fmt::format(" {},{},{}", (*extents)[0], (*extents)[1], (*extents)[2]);
    for (const Argument& argument : launch.arguments)
      out += fmt::format(" {}:{}:{}:{}:{}:{}", static_cast<int>(argument.kind), argument.name, argument.offset,
                         static_cast<int>(argument.dtype), argument.bits, fmt::join(argument.words, ","));
    out += '\n';
  }
  return out;
}

/// An output that no kernel is given; none: each is given to one.
std::optional<std::string> unwritten(const Shapes& shapes, const devices::cuda::LaunchPlan& plan) {
  for (const capture::Tensor& output : shapes.outputs) {
    const bool empty = std::find(output.shape.begin(), output.shape.end(), 0) != output.shape.end();
    const bool given = std::any_of(plan.launches.begin(), plan.launches.end(), [&](const Launch& launch) {
      return std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const Argument& argument) {
        if (argument.kind == Argument::Kind::tensor) return argument.name == output.name;
        return argument.kind == Argument::Kind::tensor_map &&
               std::any_of(plan.tensor_maps.begin(), plan.tensor_maps.end(),
                           [&](const auto& map) { return map.name == argument.name && map.tensor == output.name; });
      });
    });
    if (!empty && !given) return output.name;
  }
  return std::nullopt;
}

/// The machine code of each cubin; or why it is refused.
std::string inspect_cubins(const Captured& captured, Inspected& out) {
  for (std::size_t i = 0; i < captured.program.cubins.size(); ++i) {
    const auto cubin = devices::cuda::read_cubin(captured.program.cubins[i].bytes);
    if (!cubin) return "a compiled kernel is damaged: " + cubin.error().message;
    if (std::string reason = refused(*cubin); !reason.empty()) return reason;
    std::string name;
    for (const auto& [workload, plan] : captured.program.plans) {
      for (const Launch& launch : plan.launches) {
        if (launch.cubin == i) name = launch.kernel;
      }
    }
    const auto found = std::ranges::find(cubin->kernels, name, &CubinKernel::name);
    if (!name.empty() && found == cubin->kernels.end()) return "a launched kernel is not in its machine code";
    out.kernels.push_back(name.empty() ? CubinKernel() : *found);
    KernelResources& own = out.resources.emplace_back();
    for (const KernelResources& known : cuda::parse_resources(captured.ptxas[i])) {
      if (known.kernel == name) own = known;
    }
    own.kernel = name;
  }
  return {};
}

std::string inspect_plan(const Shapes& shapes, const devices::cuda::LaunchPlan& plan, const Inspected& inspected,
                         const DeviceLimits& limits, KnownOutputs known) {
  if (const auto name = unwritten(shapes, plan)) return "no kernel is given the output " + *name + " to write";
  if (const auto name = known == KnownOutputs::refused ? capture::known_output(shapes, plan) : std::nullopt)
    return "the output " + *name + " is made of what the host may see alone: no kernel that writes it is given data";
  for (const Launch& launch : plan.launches) {
    if (launch.cubin >= inspected.kernels.size()) continue;  // a trusted one
    std::string reason = refused(launch, inspected.kernels[launch.cubin], inspected.resources[launch.cubin], limits);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace

Inspected inspect(const Captured& captured, const std::vector<Shapes>& shapes, const DeviceLimits& limits,
                  KnownOutputs known) {
  Inspected out;
  out.problem = inspect_cubins(captured, out);
  for (const Shapes& one : shapes) {
    if (!out.problem.empty()) return out;
    out.problem = inspect_plan(one, captured.program.plans.at(one.name), out, limits, known);
  }
  return out;
}

base::Result<std::string> identity_of(const Captured& captured, const Inspected& inspected) {
  std::string out;
  for (std::size_t i = 0; i < inspected.kernels.size(); ++i) {
    const std::string& name = inspected.kernels[i].name;
    if (name.empty()) continue;
    TRY_ASSIGN(const std::string code, devices::cuda::cubin_code_id(captured.program.cubins[i].bytes, {name}));
    out += code + '\n';
  }
  for (const auto& [workload, plan] : captured.program.plans) out += workload + '\n' + identity_of(plan);
  return out;
}

}  // namespace accelopt::targets::triton
