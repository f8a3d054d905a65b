// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/program.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace accelopt::devices::cuda {
namespace {

base::Result<void> refuse_plan(const std::string& what) {
  return base::fail(base::ErrorCode::invalid_argument, "the launch plan " + what);
}

bool has_no_extent(const std::array<std::uint32_t, 3>& extents) {
  return std::find(extents.begin(), extents.end(), 0U) != extents.end();
}

}  // namespace

Argument tensor_argument(std::string name, std::uint64_t offset_bytes) {
  return {Argument::Kind::tensor, std::move(name), offset_bytes, model::DType::int64, 0, {}};
}

Argument scalar_argument(std::string name, model::DType dtype) {
  return {Argument::Kind::scalar, std::move(name), 0, dtype, 0, {}};
}

Argument tensor_map_argument(std::string name) {
  return {Argument::Kind::tensor_map, std::move(name), 0, model::DType::int64, 0, {}};
}

Argument words_argument(std::vector<std::uint64_t> words) {
  return {Argument::Kind::words, {}, 0, model::DType::int64, 0, std::move(words)};
}

Argument constant_argument(model::DType dtype, std::uint64_t bits) {
  return {Argument::Kind::constant, {}, 0, dtype, bits, {}};
}

Argument constant_argument(Constant value) {
  constexpr std::array kTypes{model::DType::boolean, model::DType::int32, model::DType::int64, model::DType::float32,
                              model::DType::float64};
  static_assert(kTypes.size() == std::variant_size_v<Constant>);
  std::uint64_t bits = 0;
  std::visit([&](const auto& one) { std::memcpy(&bits, &one, sizeof one); }, value);
  return constant_argument(kTypes.at(value.index()), bits);
}

base::Result<void> check_plan(const LaunchPlan& plan, std::size_t cubins) {
  std::set<std::string> scratch;
  for (const ScratchBuffer& buffer : plan.scratch) {
    if (!scratch.insert(buffer.name).second) return refuse_plan("has two scratch buffers named " + buffer.name);
  }
  std::set<std::string> maps;
  for (const TensorMap& map : plan.tensor_maps) {
    if (!maps.insert(map.name).second) return refuse_plan("has two tensor maps named " + map.name);
    if (map.shape.empty() || map.shape.size() != map.box.size())
      return refuse_plan("has a tensor map " + map.name + " without axes, or with a box of other axes");
    if (!map.strides.empty() && map.strides.size() + 1 != map.shape.size())
      return refuse_plan("has a tensor map " + map.name + " with strides of other axes");
  }
  for (const Launch& launch : plan.launches) {
    if (launch.cubin >= cubins) return refuse_plan("launches " + launch.kernel + " of a cubin that is not there");
    if (has_no_extent(launch.grid) || has_no_extent(launch.block))
      return refuse_plan("launches no blocks or no threads of " + launch.kernel);
    for (const Argument& argument : launch.arguments) {
      if (argument.kind == Argument::Kind::tensor_map && !maps.contains(argument.name))
        return refuse_plan("gives " + launch.kernel + " a tensor map " + argument.name + ", which it does not have");
      if (argument.kind == Argument::Kind::words && argument.words.empty())
        return refuse_plan("gives " + launch.kernel + " a structure of nothing");
    }
  }
  return {};
}

std::vector<std::string> launched_kernels(const Program& program) {
  std::vector<std::string> out;
  for (const auto& [workload, plan] : program.plans) {
    for (const Launch& launch : plan.launches) {
      if (std::find(out.begin(), out.end(), launch.kernel) == out.end()) out.push_back(launch.kernel);
    }
  }
  return out;
}

}  // namespace accelopt::devices::cuda
