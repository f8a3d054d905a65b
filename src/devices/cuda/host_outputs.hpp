// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/client.hpp"
#include "evaluation/verify/slots.hpp"
#include "model/task.hpp"

namespace accelopt::devices::cuda {

/// A set of inputs, drawn here to the same bytes as on the device. @error invalid_argument: an input cannot be drawn.
base::Result<std::vector<evaluation::Bytes>> drawn_inputs(const model::Definition& definition,
                                                          const model::AxisValues& axes,
                                                          const std::vector<evaluation::InputDraw>& draws);

/// Draws a set of inputs here, to the same bytes as the device, and asks the reference what must come out.
/// @error invalid_argument: an input cannot be drawn, or the reference failed.
base::Result<SlotRecipe::HostResult> host_outputs(const model::Definition& definition, const model::AxisValues& axes,
                                                  const evaluation::HostReference& reference,
                                                  const evaluation::Invocation& shape,
                                                  const std::vector<evaluation::InputDraw>& draws,
                                                  std::uint64_t perturbation);

}  // namespace accelopt::devices::cuda
