// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/task.hpp"

namespace accelopt::memory {

/// Pseudo-code free of a kernel's own names, so that it can be recognised in another kernel: the definition's inputs
/// become in0, in1, ..., its outputs out0, ..., its axes n0, ... Other words stay.
std::string without_names(std::string_view text, const model::Definition& definition);

}  // namespace accelopt::memory
