// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/prepared_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;

// Numbers of the driver's interface.
constexpr int kLocalBytes = 3;
constexpr int kLargeClusters = 14;
constexpr unsigned kPortableCluster = 8;
constexpr int kL2Promotion128 = 2;

/// Of the driver's interface.
int tensor_map_type(model::DType dtype) {
  switch (dtype) {
    case model::DType::float64:
      return 8;
    case model::DType::float32:
      return 7;
    case model::DType::float16:
      return 6;
    case model::DType::bfloat16:
      return 9;
    case model::DType::int64:
      return 5;
    case model::DType::int32:
      return 3;
    case model::DType::uint64:
      return 4;
    case model::DType::uint32:
      return 2;
    case model::DType::uint16:
    case model::DType::int16:
      return 1;
    default:
      return 0;
  }
}

int swizzle_code(int bytes) {
  return bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0;
}

base::Result<DevicePointer> address_of(const std::string& name, std::uint64_t offset, const PlanBinding& binding) {
  const auto tensor = binding.tensors.find(name);
  if (tensor == binding.tensors.end())
    return base::fail(ErrorCode::invalid_argument, "the plan names " + name + ", which is no tensor of this call");
  if (offset > tensor->second.bytes) {
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("the plan has an address {} bytes behind the beginning of {}, which has {}", offset,
                                  name, tensor->second.bytes));
  }
  return tensor->second.address + offset;
}

/// The bytes of a scalar input, lowest first.
base::Result<std::uint64_t> bits_of(const Argument& argument, const PlanBinding& binding) {
  const auto scalar = binding.scalars.find(argument.name);
  if (scalar != binding.scalars.end() && scalar->second.dtype == argument.dtype) return scalar->second.bits;
  return base::fail(ErrorCode::invalid_argument, fmt::format("the plan names {}, which is no scalar of type {}",
                                                             argument.name, model::to_string(argument.dtype)));
}

base::Result<EncodedTensorMap> encode(Device& device, const TensorMap& map, const PlanBinding& binding) {
  EncodedTensorMap out;
  TRY_ASSIGN(const DevicePointer begin, address_of(map.tensor, map.offset, binding));
  const auto rank = static_cast<std::uint32_t>(map.shape.size());
  std::vector<std::uint64_t> extents(map.shape.begin(), map.shape.end());
  std::vector<std::uint64_t> strides;  // of every axis but the innermost one, bytes
  std::uint64_t stride = model::size_of(map.dtype);
  for (std::size_t axis = 0; axis + 1 < extents.size(); ++axis) {
    stride *= extents[axis];
    strides.push_back(map.strides.empty() ? stride : map.strides[axis]);
  }
  strides.resize(std::max<std::size_t>(strides.size(), 1));
  const std::vector<std::uint32_t> steps(rank, 1);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver wants device addresses as pointers here
  void* const address = reinterpret_cast<void*>(begin);
  const CudaCode code = device.driver()->encode_tensor_map(
      &out, tensor_map_type(map.dtype), rank, address, extents.data(), strides.data(), map.box.data(), steps.data(), 0,
      swizzle_code(map.swizzle_bytes), kL2Promotion128, map.nan_fill ? 1 : 0);
  if (code == 0) return out;
  return base::fail(ErrorCode::invalid_argument,
                    fmt::format("tensor map {} is refused: {} (rows of a multiple of 16 bytes, a box of at most 256 "
                                "elements an axis, its inner extent within the swizzle)",
                                map.name, device.driver().text_of(code)));
}

struct GivenParameter {
  std::size_t bytes = 8;
  bool whole_number = false;  ///< an int64, which a kernel may take as a shorter integer
};

/// Whether the kernel takes as many parameters, of these sizes, as it is given; where the driver tells.
base::Result<void> check_parameters(Device& device, CudaFunction* function, const std::string& kernel,
                                    const std::vector<GivenParameter>& given) {
  const auto info = device.driver()->parameter_info;
  if (info == nullptr) return {};
  std::size_t offset = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (info(function, i, &offset, &size) != 0) {
      return base::fail(ErrorCode::invalid_argument,
                        fmt::format("kernel {} takes {} parameters, its launch gives {}", kernel, i, given.size()));
    }
    if (given[i].whole_number ? size > given[i].bytes : size != given[i].bytes) {
      return base::fail(
          ErrorCode::invalid_argument,
          fmt::format("parameter {} of kernel {} has {} bytes, its launch gives {} (an axis is an int64_t or an int)",
                      i + 1, kernel, size, given[i].bytes));
    }
  }
  if (info(function, given.size(), &offset, &size) == 0) {
    return base::fail(
        ErrorCode::invalid_argument,
        fmt::format("kernel {} takes more parameters than the {} that its launch gives", kernel, given.size()));
  }
  return {};
}

}  // namespace

base::Result<PreparedPlan> PreparedPlan::prepare(Device& device, const LoadedPlan& loaded, const PlanBinding& binding) {
  PreparedPlan out;
  for (const TensorMap& map : loaded.plan.tensor_maps) {
    TRY_ASSIGN(const EncodedTensorMap encoded, encode(device, map, binding));
    out.maps_.push_back(encoded);
  }
  for (const Launch& launch : loaded.plan.launches) TRY(out.add(device, loaded, launch, binding));
  for (const ScratchBuffer& buffer : loaded.plan.scratch) {
    if (buffer.zero) out.cleared_.push_back({binding.tensors.at(buffer.name).address, buffer.bytes});
  }
  return out;
}

base::Result<EncodedTensorMap*> PreparedPlan::map_named(const LaunchPlan& plan, const std::string& name) {
  for (std::size_t i = 0; i < plan.tensor_maps.size(); ++i) {
    if (plan.tensor_maps[i].name == name) return &maps_.at(i);
  }
  return base::fail(ErrorCode::invalid_argument, "the plan has no tensor map " + name);
}

base::Result<void> PreparedPlan::add(Device& device, const LoadedPlan& loaded, const Launch& launch,
                                     const PlanBinding& binding) {
  Kernel& kernel = kernels_.emplace_back();
  kernel.name = launch.kernel;
  TRY_ASSIGN(kernel.function, loaded.modules.at(launch.cubin).function(launch.kernel));
  int local = 0;
  if (device.driver()->function_attribute(&local, kLocalBytes, kernel.function) == 0)
    local_bytes_ = std::max(local_bytes_, static_cast<std::uint64_t>(std::max(local, 0)));
  std::copy(launch.grid.begin(), launch.grid.end(), kernel.config.grid);
  std::copy(launch.block.begin(), launch.block.end(), kernel.config.block);
  kernel.config.shared_bytes = launch.shared_bytes;
  kernel.config.stream = device.stream();
  std::vector<GivenParameter> given;
  for (const Argument& argument : launch.arguments) {
    if (argument.kind == Argument::Kind::words) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the driver only reads parameters
      kernel.parameters.push_back(const_cast<std::uint64_t*>(argument.words.data()));
      given.push_back({sizeof(std::uint64_t) * argument.words.size()});
      continue;
    }
    std::uint64_t value = argument.bits;
    std::size_t size = model::size_of(argument.dtype);
    if (argument.kind == Argument::Kind::tensor_map) {
      TRY_ASSIGN(EncodedTensorMap* const map, map_named(loaded.plan, argument.name));
      kernel.parameters.push_back(map);
      given.push_back({sizeof(EncodedTensorMap)});
      continue;
    }
    if (argument.kind == Argument::Kind::tensor) {
      TRY_ASSIGN(value, address_of(argument.name, argument.offset, binding));
      size = sizeof value;
    } else if (argument.kind == Argument::Kind::scalar) {
      TRY_ASSIGN(value, bits_of(argument, binding));
    }
    kernel.parameters.push_back(&values_.emplace_back(value));
    given.push_back({size, argument.kind == Argument::Kind::constant && argument.dtype == model::DType::int64});
  }
  TRY(check_parameters(device, kernel.function, launch.kernel, given));
  const auto set = [&](int attribute, int value, const char* what) -> base::Result<void> {
    const CudaCode code = device.driver()->set_function_attribute(kernel.function, attribute, value);
    if (code == 0) return {};
    return base::fail(ErrorCode::invalid_argument, fmt::format("kernel {}: the device refuses {} {}: {}", launch.kernel,
                                                               value, what, device.driver().text_of(code)));
  };
  // The function's own, whichever launch of it sets it last, and all are prepared before the first one runs.
  std::uint32_t most_shared = 0;
  for (const Launch& other : loaded.plan.launches) {
    if (other.cubin == launch.cubin && other.kernel == launch.kernel)
      most_shared = std::max(most_shared, other.shared_bytes);
  }
  if (most_shared > 0) TRY(set(kDynamicShared, static_cast<int>(most_shared), "bytes of dynamic shared memory"));
  const unsigned blocks = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (blocks > 0) {
    if (blocks > kPortableCluster) TRY(set(kLargeClusters, 1, "(clusters of more than 8 blocks)"));
    attribute(kernel, kClusterDimension, {launch.cluster.begin(), launch.cluster.end()});
  }
  if (launch.spread) attribute(kernel, kClusterPolicy, {1});
  if (launch.cooperative) attribute(kernel, kCooperative, {1});
  // The first one has nothing to overlap with but what prepares the call and starts the clock.
  if (launch.overlaps && kernels_.size() > 1) attribute(kernel, kOverlaps, {1});
  return {};
}

void PreparedPlan::attribute(Kernel& kernel, std::uint32_t id, const std::vector<std::uint32_t>& value) {
  LaunchAttribute& added = kernel.attributes.at(kernel.config.attribute_count++);
  added.id = id;
  std::copy(value.begin(), value.end(), added.value);
  kernel.config.attributes = kernel.attributes.data();
}

std::vector<std::string> PreparedPlan::names() const {
  std::vector<std::string> out;
  for (const Kernel& kernel : kernels_) out.push_back(kernel.name);
  return out;
}

base::Result<void> PreparedPlan::launch(Device& device, Checks& checks, const std::vector<CudaEvent*>& behind) {
  TRY(clear(checks));
  return launch_kernels(device, behind);
}

base::Result<void> PreparedPlan::clear(Checks& checks) const {
  for (const Cleared& one : cleared_) TRY(checks.zero(one.address, one.bytes));
  return {};
}

base::Result<void> PreparedPlan::launch_kernels(Device& device, const std::vector<CudaEvent*>& behind) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    Kernel& kernel = kernels_[i];
    const CudaCode code = device.driver()->launch(&kernel.config, kernel.function, kernel.parameters.data(), nullptr);
    if (code != 0) {
      return base::fail(ErrorCode::invalid_argument,
                        fmt::format("kernel {} was not launched: {}", kernel.name, device.driver().text_of(code)));
    }
    if (i < behind.size()) TRY(device.record(behind[i]));
  }
  return {};
}

}  // namespace accelopt::devices::cuda
