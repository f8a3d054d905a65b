// SPDX-License-Identifier: Apache-2.0
#include "capture/dependence.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace accelopt::capture {
namespace {

using devices::cuda::Argument;
using devices::cuda::Launch;
using devices::cuda::LaunchPlan;

/// The tensors that a launch may read or write.
std::vector<std::string> tensors_of(const Launch& launch, const LaunchPlan& plan) {
  std::vector<std::string> out;
  for (const Argument& argument : launch.arguments) {
    if (argument.kind == Argument::Kind::tensor) out.push_back(argument.name);
    if (argument.kind != Argument::Kind::tensor_map) continue;
    for (const devices::cuda::TensorMap& map : plan.tensor_maps) {
      if (map.name == argument.name) out.push_back(map.tensor);
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> known_output(const Shapes& shapes, const LaunchPlan& plan) {
  std::set<std::string> data;  // may rest on what the host does not know
  for (const Tensor& input : shapes.inputs) {
    if (input.value.is_null() && !input.visible) data.insert(input.name);
  }
  for (const Launch& launch : plan.launches) {
    const std::vector<std::string> tensors = tensors_of(launch, plan);
    if (std::ranges::any_of(tensors, [&](const std::string& one) { return data.contains(one); }))
      data.insert(tensors.begin(), tensors.end());
  }
  for (const Tensor& output : shapes.outputs) {
    const bool empty = std::ranges::find(output.shape, 0) != output.shape.end();
    if (!empty && !data.contains(output.name)) return output.name;
  }
  return std::nullopt;
}

}  // namespace accelopt::capture
