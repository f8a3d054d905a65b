// SPDX-License-Identifier: Apache-2.0
// How a device-code kernel is launched: the directives `launch`, `scratch` and `tensormap` read from its source, and
// the plan that they give once axes and tuned values are known. Pure; needs no device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/directives.hpp"
#include "model/dtype.hpp"
#include "model/launch_limits.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::model {

/// `//@ launch NAME grid=(...) block=(...) smem=E cluster=(...) args=(...)`
struct LaunchDirective {
  std::string kernel;                  ///< the __global__ function, extern "C"
  std::vector<PlacedExpression> grid;  ///< one to three: x, y, z
  std::vector<PlacedExpression> block;
  std::optional<PlacedExpression> smem;   ///< bytes of dynamic shared memory
  std::vector<PlacedExpression> cluster;  ///< empty: none
  std::vector<PlacedExpression> args;     ///< names of inputs, outputs, scratch, axes, tensor maps
  int line = 1;
  int column = 1;
};

/// `//@ scratch NAME DTYPE [E, E] zero`
struct ScratchDirective {
  std::string name;
  DType dtype = DType::float32;
  std::vector<PlacedExpression> shape;
  bool zero = false;  ///< cleared inside the timed region; else poisoned outside of it
  int line = 1;
  int column = 1;
};

/// `//@ tensormap NAME of TENSOR box=(inner, ..., outer) swizzle=128B`: a tensor map of an input, output or
/// scratch tensor, its innermost axis first in the box.
struct TensorMapDirective {
  std::string name;
  PlacedExpression tensor;            ///< its name
  std::vector<PlacedExpression> box;  ///< elements; one to five
  int swizzle_bytes = 0;              ///< 0, 32, 64 or 128
  int line = 1;
  int column = 1;
};

/// What `//@` lines in device code declare.
struct DeviceDirectives : TuneDirectives {
  std::vector<LaunchDirective> launches;  ///< in order; at least one
  std::vector<ScratchDirective> scratch;
  std::vector<TensorMapDirective> tensor_maps;
  std::vector<std::string> flags;  ///< of `//@ flags`, each as `is_allowed_device_flag` accepts it
};

/// Whether `//@ flags` of a CUDA kernel may name the flag: what changes arithmetic or registers, and nothing that reads
/// or writes files.
bool is_allowed_device_flag(std::string_view flag);

/// Reads the `//@` lines. The failing half says line, column and reason: malformed, no launch at all, more than 64
/// launches, scratch tensors or tensor maps. Names are not resolved here.
tl::expected<DeviceDirectives, DirectiveProblem> parse_device_directives(std::string_view source);

/// What one kernel parameter is given.
struct LaunchArgument {
  enum class Kind { input, output, scratch, axis, tensor_map };
  Kind kind = Kind::input;
  std::size_t index = 0;   ///< of the input, output, scratch tensor or tensor map
  std::int64_t value = 0;  ///< of an axis, passed as int64_t; scalars among the inputs are passed by value
};

struct KernelLaunch {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};     ///< blocks
  std::array<std::uint32_t, 3> block{1, 1, 1};    ///< threads
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  ///< blocks; 0: none
  std::uint32_t shared_bytes = 0;                 ///< dynamic
  std::vector<LaunchArgument> arguments;
};

struct ScratchTensor {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
  bool zero = false;
};

struct TensorMap {
  std::string name;
  LaunchArgument tensor;  ///< an input, output or scratch tensor
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;  ///< elements, innermost axis first
  std::vector<std::uint32_t> box;   ///< elements, innermost axis first
  int swizzle_bytes = 0;
};

/// All numbers of one workload.
struct LaunchPlan {
  std::vector<KernelLaunch> launches;
  std::vector<ScratchTensor> scratch;
  std::vector<TensorMap> tensor_maps;
};

/// The plan for these axes (all bound) and tuned values (one a tuned name). Refused, with the place: an unknown or
/// doubled name; an expression that does not evaluate; a grid, block, cluster (which divides the grid) or box outside
/// of the target's limits, and more shared memory, scratch or kernel parameters; an output that no launch is given; and
/// of a tensor map, one that the hardware does not know: not one axis or as many as the limits have, as the tensor has,
/// an inner extent of the box or a stride of the tensor that is not aligned, an inner extent of the box over the
/// swizzle's span.
tl::expected<LaunchPlan, DirectiveProblem> bind_launch_plan(const DeviceDirectives& directives,
                                                            const Definition& definition, const AxisValues& axes,
                                                            const std::vector<std::int64_t>& tuned_values,
                                                            const LaunchLimits& limits);

}  // namespace accelopt::model
