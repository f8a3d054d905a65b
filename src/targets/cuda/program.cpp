// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/program.hpp"

namespace accelopt::targets::cuda {
namespace {

using ArgumentKind = model::LaunchArgument::Kind;

std::string tensor_name(const model::LaunchArgument& argument, const model::LaunchPlan& plan,
                        const model::Definition& definition) {
  if (argument.kind == ArgumentKind::input) return definition.inputs.at(argument.index).name;
  if (argument.kind == ArgumentKind::output) return definition.outputs.at(argument.index).name;
  return plan.scratch.at(argument.index).name;
}

devices::cuda::Argument device_argument(const model::LaunchArgument& argument, const model::LaunchPlan& plan,
                                        const model::Definition& definition) {
  if (argument.kind == ArgumentKind::axis) return devices::cuda::constant_argument(argument.value);
  if (argument.kind == ArgumentKind::tensor_map)
    return devices::cuda::tensor_map_argument(plan.tensor_maps.at(argument.index).name);
  if (argument.kind == ArgumentKind::input && !definition.inputs.at(argument.index).shape) {
    const model::TensorSpec& input = definition.inputs[argument.index];
    return devices::cuda::scalar_argument(input.name, input.dtype);
  }
  return devices::cuda::tensor_argument(tensor_name(argument, plan, definition));
}

}  // namespace

std::string plan_name(const model::Definition& definition, const model::AxisValues& axes) {
  std::string out;
  for (const std::string& axis : model::variable_axes(definition))
    out += (out.empty() ? "" : " ") + axis + "=" + std::to_string(axes.at(axis));
  return out;
}

devices::cuda::LaunchPlan device_plan(const model::LaunchPlan& plan, const model::Definition& definition) {
  devices::cuda::LaunchPlan out;
  for (const model::KernelLaunch& launch : plan.launches) {
    devices::cuda::Launch& one = out.launches.emplace_back();
    one.kernel = launch.kernel;
    one.grid = launch.grid;
    one.block = launch.block;
    one.cluster = launch.cluster;
    one.shared_bytes = launch.shared_bytes;
    for (const model::LaunchArgument& argument : launch.arguments)
      one.arguments.push_back(device_argument(argument, plan, definition));
  }
  for (const model::ScratchTensor& scratch : plan.scratch)
    out.scratch.push_back({scratch.name, scratch.dtype, static_cast<std::uint64_t>(scratch.bytes), scratch.zero});
  for (const model::TensorMap& map : plan.tensor_maps) {
    out.tensor_maps.push_back(
        {map.name, tensor_name(map.tensor, plan, definition), 0, map.dtype, map.shape, map.box, map.swizzle_bytes});
  }
  return out;
}

}  // namespace accelopt::targets::cuda
