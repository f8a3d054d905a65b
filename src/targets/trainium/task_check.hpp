// SPDX-License-Identifier: Apache-2.0
// What tasks of this target cannot have, on a modelled device and on a real one.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

namespace accelopt::targets::trainium {

/// The function of a kernel's file that is called with the task's inputs, and returns its outputs.
inline constexpr const char* kEntry = "kernel";

/// @error unsupported: a tensor that is not float32, or is an input and an output.
base::Result<void> check_task(const model::Task& task);

/// The value of a scalar input, the same in every set of inputs. @error unsupported: it is drawn anew for each.
base::Result<base::Json> scalar_of(const model::TensorSpec& input);

}  // namespace accelopt::targets::trainium
