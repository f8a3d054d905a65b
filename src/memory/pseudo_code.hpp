// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/task.hpp"

namespace accelopt::memory {

/// Pseudo-code free of a kernel's own names, so that it can be recognised in another kernel. The definition's inputs
/// become in0, in1, ..., its outputs out0, ..., its axes n0, ...; what the `sources` (C family) declare becomes, each
/// numbered in order of declaration: loop variables i0, ..., pointers and arrays p0, ..., other variables x0, ...,
/// functions f0, ..., macros, enumerators and tuned values c0, ..., types t0, ... Other words stay.
std::string without_names(std::string_view text, const model::Definition& definition,
                          std::span<const std::string> sources);

}  // namespace accelopt::memory
