// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/task.hpp"
#include "suites/flashinfer_trace/dataset.hpp"

namespace accelopt::suites::flashinfer_trace {

/// One input of one workload, as a task declares it.
struct DrawnInput {
  model::InitSpec init;
  std::string note{};  ///< where it is not what the dataset says: what is drawn instead, and why
};

/// An input whose dtype and shape `spec` has. `axes`: all of this workload. `room`: bytes of text that listed values
/// may still take; lessened by what they take. @error: the workload cannot be had as a task's: its file is damaged or
/// contradicts the definition, or nothing says how its numbers are made.
base::Result<DrawnInput> drawn_input(const Entry& entry, const Workload& workload, const Tensor& input,
                                     const model::TensorSpec& spec, const model::AxisValues& axes, std::size_t& room);

/// The same of a workload that is not known: everything is drawn.
base::Result<DrawnInput> drawn_input(const Definition& definition, const Tensor& input, const model::TensorSpec& spec);

}  // namespace accelopt::suites::flashinfer_trace
