// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "evaluation/target.hpp"
#include "model/evaluation.hpp"

namespace accelopt::targets::cpu {

/// The three loops with the most samples, one profile item each: share, source lines, what they are made of, the
/// instructions that were met most; and libraries that take a tenth or more. Empty where samples are too few.
/// @param disassembly of the file that was sampled @param with_lines the same code with lines of the source; where it
/// is not the same, no lines are told
std::vector<model::ProfileItem> describe_hot_loops(std::string_view disassembly, std::string_view with_lines,
                                                   const evaluation::CodeSamples& samples);

}  // namespace accelopt::targets::cpu
