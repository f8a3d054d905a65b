// SPDX-License-Identifier: Apache-2.0
// What a kernel computes: its instructions in order, in float32.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// Runs the program on its inputs, which are as large as its input buffers. Whatever `outputs` held is replaced: what
/// the kernel has not written there is uninitialised, as on a device. Tiles live from their first write to their last
/// use. Where parts of the outputs are computed apart from each other, several threads compute them; the bits are those
/// of one. Gives "", or which uninitialised tile or tensor reached an output. @error cancelled.
base::Result<std::string> execute(const Program& program, const std::vector<std::span<const float>>& inputs,
                                  const std::vector<std::span<float>>& outputs, const std::stop_token& stop);

/// The same, of the instructions that `wanted` names. Of `outputs` only what these instructions read or write is
/// touched, so that most pages of a large tensor cost nothing. Looks for nothing uninitialised. @error cancelled.
base::Result<void> execute_some(const Program& program, const std::vector<bool>& wanted,
                                const std::vector<std::span<const float>>& inputs,
                                const std::vector<std::span<float>>& outputs, const std::stop_token& stop);

}  // namespace accelopt::targets::trainium
