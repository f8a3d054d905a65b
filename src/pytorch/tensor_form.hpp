// SPDX-License-Identifier: Apache-2.0
// Tensors and scalars as the PyTorch process is told of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/json.hpp"
#include "model/task.hpp"

namespace accelopt::pytorch {

/// {name, dtype, shape, file}.
base::Json tensor_form(const model::TensorSpec& tensor, const model::AxisValues& axes, const std::string& file);
/// {name, dtype, value} of the one element in `bytes`, which is of type `stored`; a value that is not finite is a
/// string.
base::Json scalar_form(const model::TensorSpec& scalar, model::DType stored, std::span<const std::byte> bytes);

}  // namespace accelopt::pytorch
