// SPDX-License-Identifier: Apache-2.0
// A target without hardware: its kernels are arithmetic expressions of x, an interpreter runs them for every element,
// and its clock counts operations. Everything that the program must know of it is in this folder.
#pragma once

#include <memory>

#include "evaluation/target.hpp"
#include "model/target_description.hpp"

namespace accelopt::toy {

/// Kernels are expressions in postfix notation of x, +, * and dup, which pushes the last value once more.
const model::TargetDescription& description();

std::unique_ptr<evaluation::Target> make_toy_target();

}  // namespace accelopt::toy
