// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace accelopt::model {

/// What a device takes of a launch plan (launch_plan.hpp). All zero: it takes none.
struct LaunchLimits {
  std::array<std::int64_t, 3> grid{};   ///< blocks: x, y, z
  std::array<std::int64_t, 3> block{};  ///< threads: x, y, z
  std::int64_t block_threads = 0;
  std::int64_t cluster_blocks = 0;
  std::int64_t shared_bytes = 0;  ///< dynamic, of a block
  std::int64_t parameter_bytes = 0;
  std::int64_t scratch_bytes = 0;  ///< of all scratch tensors together
  std::int64_t map_bytes = 0;      ///< of a tensor map as a parameter
  std::int64_t map_parameter_alignment = 0;
  std::size_t map_axes = 0;
  std::int64_t map_box_extent = 0;  ///< elements
  std::int64_t map_extent = 0;      ///< elements
  std::int64_t map_stride = 0;      ///< bytes
  std::int64_t map_alignment = 0;   ///< bytes, of strides and of a box's inner extent
};

}  // namespace accelopt::model
