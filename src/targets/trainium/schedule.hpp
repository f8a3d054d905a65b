// SPDX-License-Identifier: Apache-2.0
// When each instruction of the hardware runs: an event-driven model of the engines and the DMA queues.
#pragma once

#include <array>
#include <map>
#include <string>

#include "base/result.hpp"
#include "targets/trainium/lower.hpp"

namespace accelopt::targets::trainium {

inline constexpr double kNsPerUs = 1000;

struct Timing {
  double ns = 0;
  std::array<double, kQueues> busy_ns{};  ///< by queue; of DMA queues the engines' time together, over their number
  std::map<int, double> line_ns;          ///< busy time by source line
  std::int64_t sbuf_bytes = 0;            ///< of a partition, at most at once
  std::int64_t psum_bytes = 0;
};

/// Each engine takes what could begin first of the next few instructions that it has to do; tiles take their place on
/// the chip in that order too, and wait until there is room; in a loop also for the tile whose buffer they take.
/// @error unsupported: tiles that are alive at once do not fit on the chip.
base::Result<Timing> schedule(const Program& program, const Lowered& lowered, const Generation& chip);

}  // namespace accelopt::targets::trainium
