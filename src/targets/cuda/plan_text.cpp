// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/plan_text.hpp"

#include <algorithm>

namespace accelopt::targets::cuda {
namespace {

template <class List>
void put_numbers(std::string& out, const List& list) {
  out += " (";
  for (const auto value : list) out += std::to_string(value) + " ";
  out += ")";
}

void put_argument(std::string& out, const model::LaunchArgument& argument) {
  out += " " + std::to_string(static_cast<int>(argument.kind)) + ":" + std::to_string(argument.index) + ":" +
         std::to_string(argument.value);
}

}  // namespace

std::string plan_text(const model::LaunchPlan& plan, const std::vector<std::string>& kernels) {
  std::string out;
  for (const model::KernelLaunch& launch : plan.launches) {
    const auto place = std::find(kernels.begin(), kernels.end(), launch.kernel) - kernels.begin();
    out += "launch " + std::to_string(place);
    for (const auto* extents : {&launch.grid, &launch.block, &launch.cluster}) put_numbers(out, *extents);
    out += " " + std::to_string(launch.shared_bytes);
    for (const model::LaunchArgument& argument : launch.arguments) put_argument(out, argument);
    out += '\n';
  }
  for (const model::ScratchTensor& tensor : plan.scratch)
    out += "scratch " + std::to_string(tensor.bytes) + (tensor.zero ? " zero\n" : "\n");
  for (const model::TensorMap& map : plan.tensor_maps) {
    out += "map " + std::to_string(static_cast<int>(map.dtype)) + " " + std::to_string(map.swizzle_bytes);
    put_argument(out, map.tensor);
    put_numbers(out, map.shape);
    put_numbers(out, map.box);
    out += '\n';
  }
  return out;
}

}  // namespace accelopt::targets::cuda
